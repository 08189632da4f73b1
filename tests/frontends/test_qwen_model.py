"""The small parser's network: what a branch sees, training that goes on, export to llama.cpp."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'train'")
pytest.importorskip("tokenizers", reason="needs the extra 'train'")
pytest.importorskip("safetensors", reason="needs the extra 'train'")

from frontends.parsing.gguf.prompt import message  # noqa: E402
from frontends.parsing.qwen import train as training  # noqa: E402
from frontends.parsing.qwen.commands import train_app  # noqa: E402
from frontends.parsing.qwen.export import write_gguf  # noqa: E402
from frontends.parsing.qwen.model import Shape, initial, logits  # noqa: E402
from frontends.parsing.qwen.requests import draw_request  # noqa: E402
from frontends.parsing.qwen.samples import UNKNOWN, Source, batch, sequence  # noqa: E402
from frontends.parsing.qwen.shipped import CONTEXT, TOOLS  # noqa: E402
from frontends.parsing.qwen.tokenizer import END, NOTHING, Tokenizer  # noqa: E402
from frontends.parsing.qwen.train import Settings, train  # noqa: E402
from frontends.parsing.qwen.written import Prefix, write  # noqa: E402
from frontends.protocol import Decode, Word  # noqa: E402
from frontends.recast.grammar import load_grammar  # noqa: E402
from frontends.recast.record import read_records, write_records  # noqa: E402
from frontends.tools.catalog import read_tools  # noqa: E402
from simcore.errors import InputError  # noqa: E402
from simcore.files.traces import read_traces, shipped_scenarios  # noqa: E402

from .fakes import Fake, noise, run_trace, wav  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from frontends.parsing.qwen.samples import Texts
    from frontends.parsing.qwen.train import Trained

SMALL = Settings(
    steps=6,
    tokens=600,
    warmup=0.3,
    plain=300,
    width=64,
    layers=2,
    inner=96,
    prefixes=3,
    recorded=0.5,
    bfloat16=False,
)
TEXTS = (
    "Book a table at 3 p.m.",
    "please transfer $1,500 to Anna. No, wait, to my friend Zelbrado...",
    "«Grüße» 12.30pm, it's 7:45 -- okay?",
    " ",
)


def call(tool: str, **arguments: str) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


TAUGHT: list[Texts] = [
    (
        Prefix("Book a table at 3 p.m. No, at 4 p.m.", call("book", time="16:00")),
        [
            Prefix("Book a table.", None),
            Prefix("Book a table at 3 p.m.", call("book", time="15:00")),
        ],
    ),
    (
        Prefix(
            "Send $45 to Laura.", call("transfer", amount="45.00", currency="USD", contact="Laura")
        ),
        [Prefix("Send...", None)],
    ),
    (Prefix("Drive to the Town Hall.", call("navigate", location="Town Hall")), []),
]


@pytest.fixture(scope="module", autouse=True)
def few_texts() -> Any:
    """Tokens are learned from a few texts, and one thread does all."""
    threads = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "_TEXTS", 200)
        yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    rng = Random(0)
    texts = [write(draw_request(rng), rng, 0)[0].text for _ in range(200)]
    return Tokenizer.train(texts, read_tools(TOOLS), 400)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """It knows `TAUGHT` by heart."""
    settings = replace(SMALL, steps=150, recorded=1.0, rate=5e-3, warmup=0.07)
    folder = tmp_path_factory.mktemp("taught")
    made = train(folder, TAUGHT, TAUGHT, read_tools(TOOLS), settings, threads=1, every=50)
    assert made is not None
    return made


def test_an_answer_is_json_with_its_values_in_pieces(tokenizer: Tokenizer) -> None:
    plans = [plan.plan for whole, beginnings in TAUGHT for plan in (whole, *beginnings)]
    for plan in plans:
        *answer, end = tokenizer.answer(plan)
        assert end == tokenizer.numbers[END]
        text = "".join(tokenizer.tokens[number] for number in answer).replace("Ġ", " ")
        assert json.loads(text) == ([] if plan is None else [_spaced(plan)])
    assert tokenizer.answer(None)[0] == tokenizer.numbers[NOTHING]
    # The tool, its argument, four digits and a colon, what closes all, the end.
    assert len(tokenizer.answer(call("book", time="15:00"))) == 9
    # More than that llama-cpp-python does not give.
    assert max(len(scaffold.encode()) for scaffold in tokenizer.scaffolds) <= 32


def _spaced(plan: dict[str, Any]) -> dict[str, Any]:
    """Copied values begin with the space that stood before them."""
    arguments = {
        name: f" {value}" if name in ("location", "contact") else value
        for name, value in plan["arguments"].items()
    }
    return {**plan, "arguments": arguments}


def test_a_copied_name_is_the_tokens_of_the_text(tokenizer: Tokenizer) -> None:
    prompt = tokenizer.prompt("Call Zelbrado at the Old Lighthouse please")
    for plan in (call("contact", contact="Zelbrado"), call("navigate", location="Old Lighthouse")):
        answer = [number for number in tokenizer.answer(plan) if number < len(tokenizer.plain)]
        assert any(
            prompt[at : at + len(answer)] == answer for at in range(len(prompt) - len(answer) + 1)
        )


def test_tokens_are_kept(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path / "tokenizer.json")
    again = Tokenizer.load(tmp_path / "tokenizer.json")
    assert again == tokenizer
    assert again.encode(TEXTS[1]) == tokenizer.encode(TEXTS[1])


def test_a_branch_computes_what_its_prefix_alone_would(tokenizer: Tokenizer) -> None:
    shape = Shape(len(tokenizer.tokens), width=32, layers=2, inner=48)
    weights = initial(shape, torch.Generator().manual_seed(1))
    rng = Random(2)
    texts = [write(draw_request(rng), rng, 4) for _ in range(3)]
    rows = [sequence(text, tokenizer) for text in texts]
    made = batch(rows)
    x = training._Tensors.of(made)
    together = logits(weights, shape, x.tokens, x.positions, x.mask, x.learned)
    alone = []
    for whole, beginnings in texts:
        for prefix in (whole, *beginnings):
            answer = tokenizer.answer(prefix.plan)
            tokens = [*tokenizer.prompt(prefix.text), tokenizer.numbers[END], *answer[:-1]]
            positions = torch.arange(len(tokens))[None]
            found = logits(weights, shape, torch.tensor([tokens]), positions)
            alone.append(found[-len(answer) :])
    assert torch.allclose(together, torch.cat(alone), atol=1e-5)
    learned = [number for row in rows for number in row.following if number != UNKNOWN]
    assert len(learned) == len(together)


def test_a_training_that_is_broken_off_ends_like_an_unbroken_one(tmp_path: Path) -> None:
    tools = read_tools(TOOLS)
    unbroken = train(tmp_path / "one", TAUGHT, TAUGHT, tools, SMALL, threads=1, every=2)
    stops = iter([False, False, True])
    broken = train(
        tmp_path / "two", TAUGHT, TAUGHT, tools, SMALL, threads=1, every=2, stop=lambda: next(stops)
    )
    assert broken is None
    said: list[str] = []
    resumed = train(
        tmp_path / "two", TAUGHT, TAUGHT, tools, SMALL, threads=1, every=2, say=said.append
    )
    assert unbroken is not None
    assert resumed is not None
    assert len(said) == 2  # after 4 and 6 steps: the two before were kept
    for name, tensor in unbroken.weights.items():
        assert torch.equal(tensor, resumed.weights[name]), name
    assert unbroken.history == resumed.history
    other = train(
        tmp_path / "three", TAUGHT, TAUGHT, tools, replace(SMALL, seed=1), threads=1, every=2
    )
    assert other is not None
    assert other.history != unbroken.history


def test_a_folder_with_another_training_is_refused(tmp_path: Path) -> None:
    tools = read_tools(TOOLS)
    train(tmp_path, TAUGHT, [], tools, replace(SMALL, steps=1), threads=1)
    with pytest.raises(InputError, match="holds a training of other settings"):
        train(tmp_path, TAUGHT, [], tools, replace(SMALL, steps=2), threads=1)


def test_batches_go_on_where_they_were(tokenizer: Tokenizer) -> None:
    source = Source(tokenizer, TAUGHT, 0.2, 3, load_grammar("source"))
    drawn = source.batches(3, 500, 0)
    first = [next(drawn) for _ in range(20)]
    for start in (5, 16, 19):
        later = next(source.batches(3, 500, start))
        assert np.array_equal(later.tokens, first[start].tokens)


def test_what_is_taught_is_learned(trained: Trained) -> None:
    losses = [row["loss"] for row in trained.history]
    assert losses[-1] < 0.1 < 1 < losses[0]
    assert trained.history[-1]["selection"] == 1.0


@pytest.fixture(scope="module")
def exported(trained: Trained, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("gguf", reason="needs the extra 'train'")
    path = tmp_path_factory.mktemp("exported") / "model.gguf"
    write_gguf(path, trained.weights, trained.shape, trained.tokenizer, "f32")
    return path


@pytest.fixture(scope="module")
def llama(exported: Path) -> Any:
    package = pytest.importorskip("llama_cpp", reason="needs llama-cpp-python")
    exact = package.GGML_TYPE_F32
    made = package.Llama(
        str(exported),
        n_ctx=256,
        n_threads=1,
        n_threads_batch=1,
        logits_all=True,
        type_k=exact,
        type_v=exact,
        verbose=False,
    )
    yield made
    made.close()


def test_llama_cpp_reads_the_same_tokens_as_training(trained: Trained, exported: Path) -> None:
    pytest.importorskip("llama_cpp", reason="needs llama-cpp-python")
    from frontends.parsing.gguf.model import Model

    model, tools = Model(exported, 2048), read_tools(TOOLS)
    end = trained.tokenizer.numbers[END]
    texts = [text for whole, beginnings in TAUGHT for text in (whole, *beginnings)]
    for text in (*(prefix.text for prefix in texts), *TEXTS):
        expected = [*trained.tokenizer.prompt(text), end]
        assert model.prompt(message(tools, text)) == expected


def test_llama_cpp_computes_the_same_logits_as_torch(trained: Trained, llama: Any) -> None:
    for prefix in (TAUGHT[0][0], TAUGHT[1][0], Prefix(TEXTS[1], None)):
        tokens = [*trained.tokenizer.prompt(prefix.text), trained.tokenizer.numbers[END]]
        tokens += trained.tokenizer.answer(prefix.plan)[:-1]
        llama.reset()
        llama.eval(tokens)
        with torch.inference_mode():
            expected = logits(
                trained.weights,
                trained.shape,
                torch.tensor([tokens]),
                torch.arange(len(tokens))[None],
            )
        found = np.array(llama.scores[: len(tokens)])
        assert np.abs(found - expected.numpy()).max() < 1e-3


@pytest.mark.parametrize("numbers", ["f32", "f16", "q8_0"])
def test_the_gguf_parser_reads_what_was_taught(
    trained: Trained, tmp_path: Path, numbers: Any
) -> None:
    pytest.importorskip("gguf", reason="needs the extra 'train'")
    pytest.importorskip("llama_cpp", reason="needs llama-cpp-python")
    pytest.importorskip("dateutil", reason="needs the extra 'gguf'")
    from frontends.parsing.gguf import parser as parsing
    from frontends.parsing.gguf.parser import Gguf

    path = tmp_path / "model.gguf"
    write_gguf(path, trained.weights, trained.shape, trained.tokenizer, numbers)
    parser = Gguf(path, TOOLS, context=CONTEXT)
    try:
        parses = {
            prefix.text: parser.parse(prefix.text.split())
            for whole, beginnings in TAUGHT
            for prefix in (whole, *beginnings)
        }
    finally:
        parsing._session.cache_clear()
    found = {text: parsed.argument for text, parsed in parses.items()}
    assert found == {
        "Book a table.": None,
        "Book a table at 3 p.m.": [call("book", time="15:00")],
        "Book a table at 3 p.m. No, at 4 p.m.": [call("book", time="16:00")],
        "Send...": None,
        "Send $45 to Laura.": [call("transfer", amount="45.00", currency="USD", contact="laura")],
        "Drive to the Town Hall.": [call("navigate", location="town hall")],
    }
    assert parses["Send $45 to Laura."].words == (1, 3)
    assert all(parsed.service_us > 0 for parsed in parses.values())


@dataclass(frozen=True)
class Hears(Fake):
    """Hears the first of what was taught, a word every half second."""

    def decode(self, samples: Any) -> Decode:
        words = TAUGHT[0][0].text.split()[: len(samples) // 8_000]
        return Decode(tuple(Word(word, 0, 1, 0.5) for word in words), 1_000, 1)


def test_from_audio_to_plans_by_the_name_of_the_shipped_model(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("llama_cpp", reason="needs llama-cpp-python")
    pytest.importorskip("dateutil", reason="needs the extra 'gguf'")
    pytest.importorskip("av", reason="needs the extra 'speech'")
    import simcore.registry
    from frontends.parsing.gguf import parser as parsing
    from frontends.parsing.qwen import shipped

    monkeypatch.setattr(shipped, "MODEL", exported)
    monkeypatch.setenv("RASSG_SIM_CACHE", str(tmp_path / "cache"))
    load = simcore.registry.load
    monkeypatch.setattr(
        simcore.registry,
        "load",
        lambda group, name: (lambda *_: Hears()) if group == "frontends" else load(group, name),
    )
    wav(tmp_path / "a.wav", noise(6))
    target = {"tool": "book", "arguments": {"time": "4 pm"}}
    (tmp_path / "metadata.jsonl").write_text(json.dumps({"audio": "a.wav", "target": target}))
    out = tmp_path / "pack.jsonl"
    try:
        said = run_trace("build", tmp_path, "--parser", "gguf:qwen", "--out", out, "--jobs", 1)
    finally:
        parsing._session.cache_clear()
    assert "the final parse is right in 1 of 1" in said
    (recording,) = read_traces(out)
    assert recording.target == '[{"arguments":{"time":"16:00"},"tool":"book"}]'
    assert (recording.arrivals[0].service_us or 0) > 1_000  # the parse takes its time as well


def test_the_command_trains_and_writes_a_model_and_its_record(tmp_path: Path) -> None:
    pytest.importorskip("gguf", reason="needs the extra 'train'")
    pytest.importorskip("text_to_num", reason="needs the extra 'speech'")
    from hashlib import sha256

    from typer.testing import CliRunner

    decodes = tmp_path / "few.decodes.parquet"
    shipped = shipped_scenarios() / "packs" / "recast" / "dev-selection.decodes.parquet"
    write_records(decodes, read_records(shipped)[:4])
    out = tmp_path / "own.gguf"
    result = CliRunner().invoke(
        train_app,
        [
            *("--work", str(tmp_path / "work"), "--out", str(out), "--quiet"),
            *("--train", str(decodes), "--selection", str(decodes)),
            *("--steps", "1", "--tokens", "1000", "--threads", "1", "--no-bfloat16"),
            *("--held-out", "2"),
        ],
        catch_exceptions=False,
    )
    assert result.exit_code == 0, result.output
    assert "step 1, loss" in result.output
    record = json.loads(out.with_suffix(".json").read_text())
    assert record["model"]["sha256"] == sha256(out.read_bytes()).hexdigest()
    assert record["model"]["bytes"] == out.stat().st_size < 5_000_000
    assert record["settings"]["steps"] == len(record["history"]) == 1
    assert record["settings"]["held_out"] == 2
    assert record["decodes"] == {str(decodes): sha256(decodes.read_bytes()).hexdigest()}
