"""Tiny sequence classifiers for tests, with random weights and a tokenizer of a few words."""

from pathlib import Path
from typing import Any

WORDS = "is the a who built tower bridge river anna bert carl dora road long old red blue [SEP] //".split()


def tiny_t5(folder: Path, outputs: int = 1, seed: int = 0, head: bool = True) -> Path:
    """Save a T5 of two layers with its tokenizer; without head, as a model that was only pre-trained."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration, T5ForSequenceClassification

    tokenizer = word_tokenizer(["<pad>", "</s>", "<unk>"], "$A </s>", eos_token="</s>")
    torch.manual_seed(seed)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        num_labels=outputs,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        initializer_factor=0.6,
    )
    model = (T5ForSequenceClassification if head else T5ForConditionalGeneration)(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def tiny_cross_encoder(folder: Path, positions: int = 64, seed: int = 0) -> Path:
    """Save a BERT of two layers with one output, which reads pairs of at most ``positions`` tokens."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    special = {"cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = word_tokenizer(["<pad>", "[CLS]", "<unk>"], "[CLS] $A [SEP]", **special)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=positions,
        num_labels=1,
        pad_token_id=0,
        initializer_range=0.5,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def word_tokenizer(special: list[str], single: str, **named: Any) -> Any:
    """Return a tokenizer whose tokens are the words between spaces; "[SEP]" closes the second text of a pair."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: place for place, word in enumerate([*special, *WORDS])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    marks = [(mark, vocabulary[mark]) for mark in ("[CLS]", "[SEP]", "</s>") if mark in vocabulary]
    pair = f"{single} $B:1 [SEP]:1"
    made.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=marks)
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", unk_token="<unk>", model_max_length=512, **named
    )
