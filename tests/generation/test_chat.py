"""The chat generator against a local server: what it asks, what it counts, how it waits, when it gives up."""

import json
import logging
import pickle
import threading
import time
from dataclasses import asdict
from typing import Any

import pytest

from evidencegym.data.errors import BackendUnavailableError
from evidencegym.data.records import Passage
from evidencegym.generation.chat import ChatGenerator
from evidencegym.generation.chat_settings import ChatSettings
from evidencegym.generation.tasks import Answer, AnswerTask, CompressTask, Failed, JudgeTask, RewriteTask, Usage

from .fake_server import FakeServer, Response, completion, error, good, good_text, kind_of, question_of, serving

pytest.importorskip("openai", reason="needs the extra chat")
pytest.importorskip("tenacity", reason="needs the extra chat")

PASSAGE = Passage.of("The Quiet Harbour", ["It is a film by Marta Leone.", "It won a prize."])
KEY = "sk-this-is-secret"


def settings(server: FakeServer, **more: Any) -> ChatSettings:
    given: dict[str, Any] = {"model": "m", "timeout": 5.0, "retries": 2, "max_wait": 0.02} | more
    return ChatSettings(base_url=server.url, **given)


def generator(server: FakeServer, **more: Any) -> ChatGenerator:
    return ChatGenerator(settings(server, **more))


def answers(*names: str) -> list[AnswerTask]:
    return [AnswerTask(f"Who is {name}", (PASSAGE,)) for name in names]


def test_each_task_is_asked_as_its_prompt_says() -> None:
    with serving() as server:
        chat = generator(server)
        assert chat.answer(answers("Ann")) == [Answer("Ann", usage=Usage(100, 7))]
        judged = chat.judge_sufficiency([JudgeTask("Who is Ann", (PASSAGE,))])[0]
        assert not isinstance(judged, Failed) and judged.missing == "more about Ann" and judged.probability == 0.0
        made = chat.rewrite([RewriteTask("Who is Ann", (PASSAGE,))])[0]
        assert not isinstance(made, Failed) and made.query == "new Who is Ann"
        for task, sentence in ((CompressTask("q", (PASSAGE,)), 0), (CompressTask("q", (PASSAGE,), 12, 384), None)):
            kept = chat.compress([task])[0]
            assert not isinstance(kept, Failed) and [s.sentence for s in kept.snippets] == [sentence]
    body = server.bodies[0]
    assert (body["model"], body["temperature"], body["seed"], body["max_tokens"]) == ("m", 0.0, 0, 64)
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["answer"]
    assert "logprobs" not in body and "stream" not in body
    assert chat.unit == "tokens" and chat.label == "m"


def test_a_batch_is_sent_side_by_side_and_comes_back_in_order() -> None:
    with serving(lambda body, _: replace_sleep(good(body, 0), 0.05)) as server:
        names = [str(number) for number in range(12)]
        found = generator(server, concurrency=4).answer(answers(*names))
    assert [answer.text for answer in found if isinstance(answer, Answer)] == names
    assert server.most == 4


def replace_sleep(response: Response, seconds: float) -> Response:
    response.sleep = seconds
    return response


def test_threads_that_share_a_generator_share_its_limit() -> None:
    with serving(lambda body, _: replace_sleep(good(body, 0), 0.03)) as server:
        chat = generator(server, concurrency=3)
        threads = [threading.Thread(target=chat.answer, args=(answers(str(n), str(n + 100)),)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert server.most == 3 and server.served == 12


@pytest.mark.parametrize("first", [error(429, retry_after="0.3"), error(503, retry_after="0.3")])
def test_a_wait_that_the_server_asks_for_is_kept(first: Response) -> None:
    with serving(lambda body, attempt: good(body, 0) if attempt else first) as server:
        found = generator(server, max_wait=5.0).answer(answers("Ann"))
    assert found == [Answer("Ann", usage=Usage(100, 7))]
    assert 0.3 <= server.times[1] - server.times[0] < 4.0


def test_a_rate_limit_holds_the_other_calls_back_too() -> None:
    limited = threading.Event()

    def script(body: dict[str, Any], attempt: int) -> Response:
        if not limited.is_set():
            limited.set()
            return error(429, retry_after="0.6")
        return replace_sleep(good(body, 0), 0.2)

    with serving(script) as server:
        found = generator(server, max_wait=5.0, concurrency=2).answer(answers("Ann", "Ben", "Cid", "Dan"))
    assert all(isinstance(answer, Answer) for answer in found) and len(server.times) == 5
    # One other call may be under way when the limit comes; the rest waits.
    assert sum(when - server.times[0] < 0.55 for when in server.times) <= 2


def test_a_wait_that_is_too_long_is_a_failure_at_once() -> None:
    with serving(lambda body, attempt: error(429, retry_after="3600")) as server:
        begun = time.monotonic()
        [failed] = generator(server).answer(answers("Ann"))
    assert isinstance(failed, Failed) and "429" in failed.reason and failed.usage == Usage()
    assert len(server.bodies) == 1 and time.monotonic() - begun < 60


def test_retries_are_bounded_and_spread() -> None:
    with serving(lambda body, attempt: error(500)) as server:
        [failed] = generator(server, retries=3).answer(answers("Ann"))
    assert isinstance(failed, Failed) and "500" in failed.reason and len(server.bodies) == 4


def test_one_failed_task_fails_alone() -> None:
    with serving(lambda body, _: error(500) if "Ben" in question_of(body) else good(body, 0)) as server:
        found = generator(server).answer(answers("Ann", "Ben", "Cid"))
    assert [type(one) for one in found] == [Answer, Failed, Answer]


def test_a_faulty_reply_is_repaired_once_and_both_calls_are_paid() -> None:
    def script(body: dict[str, Any], _: int) -> Response:
        return good(body, 0) if len(body["messages"]) == 4 else Response(completion('{"answer": "Ann"'))

    with serving(script) as server:
        assert generator(server).answer(answers("Ann")) == [Answer("Ann", usage=Usage(200, 14, 2))]
    assert server.bodies[1]["messages"][:2] == server.bodies[0]["messages"]
    assert server.bodies[1]["messages"][2] == {"role": "assistant", "content": '{"answer": "Ann"'}
    assert "expected one JSON object" in server.bodies[1]["messages"][3]["content"]


def test_after_one_repair_it_is_a_failure_with_its_tokens() -> None:
    with serving(lambda body, _: Response(completion("Ann, I think"))) as server:
        [failed] = generator(server).answer(answers("Ann"))
    assert isinstance(failed, Failed) and failed.usage == Usage(200, 14, 2) and len(server.bodies) == 2
    assert "repair" in failed.reason and "Ann, I think" in failed.reason


def test_a_reply_that_was_cut_off_is_said_to_be() -> None:
    cut = json.loads(completion('{"answer": "An'))
    cut["choices"][0]["finish_reason"] = "length"
    with serving(lambda body, _: Response(json.dumps(cut).encode())) as server:
        [failed] = generator(server).answer(answers("Ann"))
    assert isinstance(failed, Failed) and "cut off" in failed.reason
    assert "cut off" in server.bodies[1]["messages"][3]["content"]


def test_a_server_without_schemas_is_found_out_once() -> None:
    with serving(
        lambda body, _: error(400, "no response_format") if "response_format" in body else good(body, 0)
    ) as server:
        chat = generator(server)
        assert all(isinstance(chat.answer(answers(name))[0], Answer) for name in ("Ann", "Ben", "Cid"))
    assert ["response_format" in body for body in server.bodies] == [True, False, False, False]


def test_schemas_can_be_insisted_on_or_left_out() -> None:
    with serving(lambda body, _: error(400) if "response_format" in body else good(body, 0)) as server:
        assert isinstance(generator(server, structured="on").answer(answers("Ann"))[0], Failed)
        assert isinstance(generator(server, structured="off").answer(answers("Ann"))[0], Answer)
    assert len(server.bodies) == 2


def test_a_request_that_is_refused_either_way_leaves_schemas_on() -> None:
    with serving(lambda body, _: error(400, "too long") if "Ann" in question_of(body) else good(body, 0)) as server:
        found = generator(server, concurrency=1).answer(answers("Ann", "Ben"))
    assert isinstance(found[0], Failed) and "too long" in found[0].reason and isinstance(found[1], Answer)
    assert "response_format" in server.bodies[-1] and len(server.bodies) == 3


def test_the_verdicts_probability_comes_from_its_token() -> None:
    logprobs = {"content": [
        {"token": '{"sufficient":', "logprob": 0.0, "top_logprobs": []},
        {"token": " false", "logprob": -0.6931, "top_logprobs": [{"token": " true", "logprob": -1.3863}]},
    ]}  # fmt: skip

    def script(body: dict[str, Any], _: int) -> Response:
        whole = json.loads(completion(good_text(body)))
        whole["choices"][0]["logprobs"] = logprobs if body.get("logprobs") else None
        return Response(json.dumps(whole).encode())

    with serving(script) as server:
        chat = generator(server, logprobs=True)
        [judged] = chat.judge_sufficiency([JudgeTask("q Ann", (PASSAGE,))])
        chat.answer(answers("Ann"))
    assert not isinstance(judged, Failed) and not judged.sufficient
    assert judged.probability == pytest.approx(1 / 3, abs=1e-3)
    assert [body.get("top_logprobs") for body in server.bodies] == [5, None]


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_model_ends_the_run(status: int) -> None:
    with (
        serving(lambda body, _: error(status, "model not found")) as server,
        pytest.raises(BackendUnavailableError, match=f"{status}.*model not found"),
    ):
        generator(server).answer(answers("Ann", "Ben"))


def test_no_server_at_all_ends_the_run() -> None:
    with serving() as server:
        pass
    with pytest.raises(BackendUnavailableError, match="no server answers at"):
        generator(server, retries=1).answer(answers("Ann"))


def test_the_key_comes_from_the_environment_and_goes_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    with serving(
        lambda body, _: error(400, f"bad key {KEY}") if "Ann" in question_of(body) else good(body, 0)
    ) as server:
        chat = generator(server, key_variable="MY_KEY", structured="off")
        found = chat.answer(answers("Ann", "Ben"))
    with (
        serving(lambda body, _: error(401, f"bad key {KEY}")) as refusing,
        pytest.raises(BackendUnavailableError) as refused,
    ):
        generator(refusing, key_variable="MY_KEY").answer(answers("Ann"))
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    shown = [repr(chat.settings), repr(chat), str(asdict(chat.settings)), chat.fingerprint, repr(found)]
    shown += [str(refused.value), caplog.text, *capsys.readouterr(), pickle.dumps(chat).decode("latin-1")]
    assert not any(KEY in text for text in shown)
    assert isinstance(found[0], Failed) and "(key)" in found[0].reason
    assert refused.value.__cause__ is None


def test_a_generator_can_be_sent_to_another_process() -> None:
    with serving() as server:
        chat = pickle.loads(pickle.dumps(generator(server)))
        assert isinstance(chat.answer(answers("Ann"))[0], Answer)


def test_settings_reach_the_server() -> None:
    more: dict[str, Any] = {"limit_name": "max_completion_tokens", "max_tokens": {"answer": 99}, "temperature": None}
    more |= {"seed": None, "system_role": False, "extra": {"chat_template_kwargs": {"enable_thinking": False}}}
    with serving(lambda body, _: Response(completion('{"answer": "x"}'))) as server:
        assert isinstance(generator(server, **more).answer(answers("Ann"))[0], Answer)
    [body] = server.bodies
    assert body["max_completion_tokens"] == 99 and not {"max_tokens", "temperature", "seed"} & body.keys()
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert body["chat_template_kwargs"] == {"enable_thinking": False}


def test_the_fake_server_knows_every_prompt() -> None:
    with serving() as server:
        chat = generator(server)
        chat.judge_sufficiency([JudgeTask("q", (PASSAGE,))])
        chat.compress([CompressTask("q", (PASSAGE,), 12)])
    assert [kind_of(body) for body in server.bodies] == ["judge", "facts"]
