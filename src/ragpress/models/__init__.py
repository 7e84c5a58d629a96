"""The known embedding models, and which file stands for the configured one."""
