"""A tiny causal language model for tests, with random weights, a tokenizer of bytes and a chat template."""

from pathlib import Path
from typing import Any

TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
NO_SYSTEM = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + TEMPLATE
SPECIAL = ["<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>"]


def tiny_model(folder: Path, template: str | None = TEMPLATE, context: int = 8192, seed: int = 0) -> Path:
    """Save a Llama of two layers with random weights; its tokens are bytes."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = byte_tokenizer(template)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        initializer_range=0.4,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = LlamaForCausalLM(config)
    model.generation_config.update(do_sample=True, temperature=0.7, repetition_penalty=1.3)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def byte_tokenizer(template: str | None) -> Any:
    """Return a tokenizer whose tokens are the 256 bytes and the special ones."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({char: place for place, char in enumerate(alphabet)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, pad_token=SPECIAL[0], eos_token=SPECIAL[1])
    tokenizer.chat_template = template
    return tokenizer


def learned_by_heart(folder: Path, chats: list[tuple[list[dict[str, str]], str]], steps: int = 150) -> Path:
    """Save a tiny model that was trained to reply to each chat as it is told."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tiny_model(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder)
    torch.manual_seed(0)
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.08)
    rows = []
    for messages, reply in chats:
        asked = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        ids = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in (asked, f"{reply}<|end|>")]
        rows.append((torch.tensor([ids[0] + ids[1]]), torch.tensor([[-100] * len(ids[0]) + ids[1]])))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(steps):
        for row, labels in rows:
            optimizer.zero_grad()
            model(input_ids=row, labels=labels).loss.backward()
            optimizer.step()
    model.save_pretrained(folder)
    return folder
