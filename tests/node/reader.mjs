// A reader of artifacts by docs/artifact.md alone.
//
// Standard input: {"folder", "k", "questions": [{"vector", "text"}, …]}. A question with a vector alone is searched by
// meaning, one with a text alone by words, one with both by both. Standard output: for each its hits, [{"score", "line"}].
// What words a text has is known to the report's words.js, which needs no browser. An artifact that cannot be trusted is one line on standard error and status 1.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInThisContext } from "node:vm";
import { Index } from "usearch";

const script = new URL("../../src/ragpress/report/static/words.js", import.meta.url);
const { wording, folding } = runInThisContext(`${readFileSync(script, "utf8")};({ wording, folding })`);

const [K1, B] = [1.2, 0.75];
const WEIGHT = 6;
const SAMPLE = 1024;
const CANDIDATES = 100;

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

// The columns of a word file, by the table in docs/artifact.md.
function wordFile(data) {
  const [rows, words, entries] = [data.readUInt32LE(0), data.readUInt32LE(4), Number(data.readBigUInt64LE(8))];
  const codes = 16;
  const starts = codes + 8 * words;
  const lengths = starts + 4 * (words + 1);
  const entryRows = lengths + 4 * rows;
  const counts = entryRows + 4 * entries;
  return {
    rows,
    length: (row) => data.readUInt32LE(lengths + 4 * row),
    // [row, count] of each entry of the word
    entries(code) {
      let [low, high] = [0, words];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (data.readBigUInt64LE(codes + 8 * middle) < code) low = middle + 1;
        else high = middle;
      }
      if (low === words || data.readBigUInt64LE(codes + 8 * low) !== code) return [];
      const [begin, end] = [data.readUInt32LE(starts + 4 * low), data.readUInt32LE(starts + 4 * low + 4)];
      return Array.from({ length: end - begin }, (_, place) => [
        data.readUInt32LE(entryRows + 4 * (begin + place)),
        data[counts + begin + place],
      ]);
    },
  };
}

function unit(vector) {
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
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
    this.words = this.index.words.map(({ file }) => wordFile(this.files[file]));
    if (this.words.some(({ rows }, place) => rows !== this.shards[place].vectors)) refuse("the word files do not fit");
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

  // [row, cosine] of the nearest.
  byVector(query, k) {
    const found = [];
    for (const shard of this.shards) {
      for (const row of this.candidates(shard, query, k)) found.push([row, this.cosine(shard, row, query)]);
    }
    return best(found, k);
  }

  // The word score of each row.
  wordScores(text) {
    const count = this.ids.length;
    const scores = new Float64Array(count);
    const codes = [...new Set(wording.words(text, folding.fold))].map(
      (word) => createHash("sha256").update(word).digest().readBigUInt64LE(0),
    );
    const lengths = this.words.flatMap(({ rows, length }) => Array.from({ length: rows }, (_, row) => length(row)));
    const mean = Math.max(lengths.reduce((sum, length) => sum + length, 0) / count, 1);
    let most = 0;
    for (const code of codes) {
      const entries = this.words.flatMap((file, place) =>
        file.entries(code).map(([row, times]) => [this.shards[place].first + row, times]),
      );
      const idf = Math.log1p((count - entries.length + 0.5) / (entries.length + 0.5));
      most += idf * (K1 + 1);
      for (const [row, times] of entries) {
        scores[row] += (idf * (K1 + 1) * times) / (times + K1 * (1 - B + (B * lengths[row]) / mean));
      }
    }
    return most ? scores.map((score) => score / most) : scores;
  }

  byWords(text, k) {
    return best(Array.from(this.wordScores(text).entries()), k).filter(([, score]) => score > 0);
  }

  byBoth(query, text, k) {
    const [count, size] = [this.ids.length, Math.min(this.ids.length, SAMPLE)];
    const sample = Array.from({ length: size }, (_, place) => this.cosineOf(Math.floor((place * count) / size), query));
    const mean = sample.reduce((sum, cosine) => sum + cosine, 0) / size;
    const deviation = Math.sqrt(sample.reduce((sum, cosine) => sum + (cosine - mean) ** 2, 0) / size);
    const scores = this.wordScores(text);
    const rows = [...this.byVector(query, k + CANDIDATES), ...best(Array.from(scores.entries()), k + CANDIDATES)];
    const fused = [...new Set(rows.map(([row]) => row))].map((row) => [
      row,
      (deviation < 1e-6 ? 0 : (this.cosineOf(row, query) - mean) / deviation) + WEIGHT * scores[row],
    ]);
    return best(fused, k);
  }

  cosineOf(row, query) {
    return this.cosine(this.shards.find(({ first, vectors }) => row < first + vectors), row, query);
  }

  search({ vector, text }, k) {
    const query = vector && Float32Array.from(unit(vector));
    const found = !text ? this.byVector(query, k) : query ? this.byBoth(query, text, k) : this.byWords(text, k);
    return found.map(([row, score]) => ({ score, line: this.line(row) }));
  }

  line(row) {
    const start = Number(this.starts[row]);
    return JSON.parse(this.files["chunks.jsonl"].subarray(start, start + this.lengths[row]).toString("utf8"));
  }
}

// The first k of [row, score] pairs, equal scores by row.
function best(found, k) {
  return found.sort((one, two) => two[1] - one[1] || one[0] - two[0]).slice(0, k);
}

const { folder, k, questions } = JSON.parse(readFileSync(0, "utf8"));
const artifact = new Artifact(folder);
console.log(JSON.stringify(questions.map((question) => artifact.search(question, k))));
