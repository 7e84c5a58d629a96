// A reader of artifacts by docs/artifact.md alone.
//
// Standard input: {"folder", "k", "vectors"}. Standard output: for each vector its hits, [{"score", "line"}].
// An artifact that cannot be trusted is one line on standard error and status 1.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Index } from "usearch";

const CHECKSUM = /^,\n {2}"checksum": "([0-9a-f]{64})"\n\}\n$/;
const CHECKSUM_BYTES = 85;

const sha256 = (data) => createHash("sha256").update(data).digest("hex");

function refuse(reason) {
  console.error(reason);
  process.exit(1);
}

function readIndex(folder) {
  const data = readFileSync(join(folder, "index.json"));
  const index = JSON.parse(data.toString("utf8"));
  if (index.format !== 2) refuse(`index.json is of format ${index.format}`);
  const checksum = CHECKSUM.exec(data.subarray(-CHECKSUM_BYTES).toString("utf8"));
  if (checksum === null || sha256(data.subarray(0, -CHECKSUM_BYTES)) !== checksum[1]) refuse("index.json was changed");
  return index;
}

function readFiles(folder, index) {
  const files = {};
  for (const [name, { size, sha256: expected }] of Object.entries(index.files)) {
    files[name] = readFileSync(join(folder, name));
    if (files[name].length !== size || sha256(files[name]) !== expected) refuse(`${name} was changed`);
  }
  return files;
}

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

class Artifact {
  constructor(folder) {
    this.index = readIndex(folder);
    this.files = readFiles(folder, this.index);
    this.dimensions = this.index.model.dimensions;
    const count = this.index.counts.chunks;
    const columns = this.files["chunks.idx"];
    const copy = columns.buffer.slice(columns.byteOffset, columns.byteOffset + columns.length); // aligned
    this.ids = new BigUint64Array(copy, 0, count);
    this.starts = new BigUint64Array(copy, 8 * count, count);
    this.lengths = new Uint32Array(copy, 16 * count, count);
    let first = 0;
    this.shards = this.index.shards.map(({ file, vectors, repeats }) => {
      const graph = new Index(this.dimensions, "cos", "f16");
      graph.view(join(folder, file));
      if (graph.size() !== vectors) refuse(`${file} has ${graph.size()} vectors`);
      first += vectors;
      return { file, graph, first: first - vectors, vectors, whole: repeats > 32 };
    });
  }

  row(id) {
    let [low, high] = [0, this.ids.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ids[middle] < id) low = middle + 1;
      else high = middle;
    }
    if (this.ids[low] !== id) refuse(`${id} is no chunk`);
    return low;
  }

  candidates(shard, query, k) {
    if (shard.whole) return Array.from({ length: shard.vectors }, (_, place) => shard.first + place);
    const wanted = Math.min(shard.vectors, Math.max(k, this.index.index.expansion_search));
    if (wanted === 0) return [];
    return Array.from(shard.graph.search(query, wanted, 1).keys, (id) => this.row(id));
  }

  cosine(shard, row, query) {
    const data = this.files[shard.file];
    const begin = 8 + (row - shard.first) * 2 * this.dimensions;
    let [dot, norm] = [0, 0];
    for (let column = 0; column < this.dimensions; column++) {
      const value = half(data.readUInt16LE(begin + 2 * column));
      dot += value * query[column];
      norm += value * value;
    }
    return dot / Math.sqrt(norm);
  }

  search(query, k) {
    const found = [];
    for (const shard of this.shards) {
      for (const row of this.candidates(shard, query, k)) found.push({ row, score: this.cosine(shard, row, query) });
    }
    found.sort((one, two) => two.score - one.score || one.row - two.row);
    return found.slice(0, k).map(({ row, score }) => ({ score, line: this.line(row) }));
  }

  line(row) {
    const start = Number(this.starts[row]);
    return JSON.parse(this.files["chunks.jsonl"].subarray(start, start + this.lengths[row]).toString("utf8"));
  }
}

const { folder, k, vectors } = JSON.parse(readFileSync(0, "utf8"));
const artifact = new Artifact(folder);
console.log(JSON.stringify(vectors.map((vector) => artifact.search(Float32Array.from(vector), k))));
