"""Writes a model of random numbers that llama.cpp runs: its words mean nothing, its server's protocol is real.

Usage: small_model.py FILE
"""

import sys

import gguf
import numpy as np

WIDTH, HEADS, BLOCKS, INNER, CONTEXT = 64, 4, 1, 128, 16384

# Three control tokens, then a token a byte, then the letters of ASCII as words of their own.
tokens = [b"<unk>", b"<s>", b"</s>"] + [b"<0x%02X>" % byte for byte in range(256)]
kinds = [2, 3, 3] + [6] * 256
tokens += [bytes([letter]) for letter in range(0x21, 0x7F)] + ["▁".encode()]
kinds += [1] * (len(tokens) - len(kinds))

writer = gguf.GGUFWriter(sys.argv[1], "llama")
writer.add_name("small")
writer.add_context_length(CONTEXT)
writer.add_embedding_length(WIDTH)
writer.add_block_count(BLOCKS)
writer.add_feed_forward_length(INNER)
writer.add_head_count(HEADS)
writer.add_head_count_kv(HEADS)
writer.add_rope_dimension_count(WIDTH // HEADS)
writer.add_layer_norm_rms_eps(1e-5)
writer.add_file_type(gguf.LlamaFileType.ALL_F32)
writer.add_vocab_size(len(tokens))
writer.add_tokenizer_model("llama")
writer.add_token_list(tokens)
writer.add_token_scores([0.0] * len(tokens))
writer.add_token_types(kinds)
writer.add_bos_token_id(1)
writer.add_eos_token_id(2)
writer.add_unk_token_id(0)
writer.add_chat_template(
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant: "
)

random = np.random.default_rng(6)


def tensor(name, *shape):
    writer.add_tensor(name, (random.standard_normal(shape) * 0.05).astype(np.float32))


def ones(name):
    writer.add_tensor(name, np.ones(WIDTH, dtype=np.float32))


tensor("token_embd.weight", len(tokens), WIDTH)
ones("output_norm.weight")
tensor("output.weight", len(tokens), WIDTH)
for block in range(BLOCKS):
    at = f"blk.{block}."
    ones(at + "attn_norm.weight")
    ones(at + "ffn_norm.weight")
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        tensor(at + name + ".weight", WIDTH, WIDTH)
    tensor(at + "ffn_gate.weight", INNER, WIDTH)
    tensor(at + "ffn_up.weight", INNER, WIDTH)
    tensor(at + "ffn_down.weight", WIDTH, INNER)

writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
