// What @anthropic-ai/sdk demands of the port. Environment: BASE_URL (with
// /v1), API_KEY, MODEL, FILE (a path), MARK (a word of its first line), and
// STRUCTURED=1 when the model answers in JSON if asked to.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import Anthropic, { APIUserAbortError, AuthenticationError, BadRequestError, NotFoundError } from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { z } from "zod";

const { BASE_URL, API_KEY, MODEL, FILE, MARK, STRUCTURED } = process.env;
const warnings = [];
const logger = { error: (...m) => warnings.push(m), warn: (...m) => warnings.push(m), info() {}, debug() {} };
// This SDK adds /v1 itself; with it twice the port must answer all the same.
const client = new Anthropic({ baseURL: BASE_URL.replace(/\/v1$/, ""), apiKey: API_KEY, maxRetries: 0, timeout: 60_000, logger, logLevel: "warn" });
const hello = { model: MODEL, max_tokens: 1000, messages: [{ role: "user", content: "Say hello" }] };
const read = { ...hello, messages: [{ role: "user", content: `Read the file ${FILE} and tell me its first line` }] };

test.after(() => assert.deepEqual(warnings, []));

// How often the model's tool ran is what the loops are checked by.
function readTool() {
  const calls = [];
  const tool = betaZodTool({
    name: "read_file",
    description: "Reads a text file.",
    inputSchema: z.object({ path: z.string() }),
    run: ({ path }) => {
      calls.push(path);
      return readFile(path, "utf8");
    },
  });
  return { calls, tool };
}

const plainTool = {
  name: "read_file", description: "Reads a text file.",
  input_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

const textOf = (message) => message.content.filter((b) => b.type === "text").map((b) => b.text).join("");
const thinkingOf = (message) => message.content.filter((b) => b.type === "thinking").map((b) => b.thinking).join("");

function checkUsage(usage) {
  for (const name of ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]) {
    assert.equal(typeof usage[name], "number", name);
  }
  assert.ok(usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens > 0 && usage.output_tokens > 0, JSON.stringify(usage));
}

test("whole message", async () => {
  const message = await client.messages.create(hello);
  assert.equal(message.type, "message");
  assert.equal(message.role, "assistant");
  assert.equal(message.model, MODEL);
  assert.match(message.id, /^msg_/);
  assert.match(message._request_id, /./);
  assert.equal(message.stop_reason, "end_turn");
  assert.equal(message.stop_sequence, null);
  assert.match(textOf(message), /simulated/);
  checkUsage(message.usage);
});

test("events of a stream, one block at a time", async () => {
  const stream = await client.messages.create({ ...hello, stream: true });
  const events = [];
  for await (const event of stream) events.push(event);
  assert.equal(events[0].type, "message_start");
  assert.ok(events[0].message.usage.input_tokens > 0);
  assert.deepEqual(events[0].message.content, []);
  assert.deepEqual(events.slice(-2).map((e) => e.type), ["message_delta", "message_stop"]);
  assert.equal(events.at(-2).delta.stop_reason, "end_turn");
  checkUsage(events.at(-2).usage);
  let open = -1;
  let next = 0;
  for (const event of events) {
    if (event.type === "content_block_start") {
      assert.equal(open, -1);
      assert.equal(event.index, next++);
      open = event.index;
    } else if (event.type === "content_block_delta") {
      assert.equal(event.index, open);
    } else if (event.type === "content_block_stop") {
      assert.equal(event.index, open);
      open = -1;
    }
  }
  assert.ok(events.filter((e) => e.delta?.type === "text_delta").length > 1, "the answer came in one piece");
});

test("ST12 the joined stream equals the whole answer, thinking included", async () => {
  const stream = client.messages.stream(hello);
  const joined = { text: "", thinking: "", signature: "" };
  for (const kind of Object.keys(joined)) stream.on(kind, (delta) => { joined[kind] += delta; });
  const final = await stream.finalMessage();
  assert.equal(textOf(final), joined.text);
  assert.equal(await stream.finalText(), joined.text);
  assert.equal(thinkingOf(final), joined.thinking);
  assert.match(joined.thinking, /\w+ \w+/);
  assert.match(joined.signature, /./);
  checkUsage(final.usage);
  const whole = await client.messages.create(hello);
  assert.equal(textOf(whole), joined.text);
  assert.equal(thinkingOf(whole), joined.thinking);
});

for (const stream of [false, true]) {
  test(`tool loop, stream ${stream}`, async () => {
    const { calls, tool } = readTool();
    const runner = client.beta.messages.toolRunner({ ...read, tools: [tool], stream, max_iterations: 4 });
    const reasons = [];
    for await (const turn of runner) reasons.push((stream ? await turn.finalMessage() : turn).stop_reason);
    const final = await runner.done();
    assert.match(textOf(final), new RegExp(MARK));
    assert.deepEqual(calls, [FILE]);
    assert.deepEqual(reasons, ["tool_use", "end_turn"]);
    const [use] = runner.params.messages.find((m) => m.role === "assistant").content.filter((b) => b.type === "tool_use");
    assert.match(use.id, /^[A-Za-z0-9_-]{1,40}$/);
  });
}

test("tool_use whole and streamed", async () => {
  const request = { ...read, tools: [plainTool] };
  const stream = client.messages.stream(request);
  let json = "";
  stream.on("inputJson", (delta) => { json += delta; });
  const streamed = await stream.finalMessage();
  const whole = await client.messages.create(request);
  for (const message of [streamed, whole]) {
    assert.equal(message.stop_reason, "tool_use");
    const uses = message.content.filter((b) => b.type === "tool_use");
    assert.deepEqual(uses.map((u) => [u.name, u.input.path]), [["read_file", FILE]]);
  }
  assert.deepEqual(JSON.parse(json), { path: FILE });
});

test("tool_choice none", async () => {
  const answer = await client.messages.create({ ...read, tools: [plainTool], tool_choice: { type: "none" } });
  assert.equal(answer.stop_reason, "end_turn");
});

test("blocks of all kinds, unknown fields, thinking that comes back", async () => {
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const answer = await client.beta.messages.create({
    ...hello,
    system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
    messages: [
      { role: "user", content: [{ type: "text", text: "Hi" }, { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } }] },
      { role: "system", content: "Still brief." },
      { role: "assistant", content: [
        { type: "thinking", thinking: "hm", signature: "x" }, { type: "redacted_thinking", data: "x" },
        { type: "tool_use", id: "c1", name: "gone", input: {} }] },
      { role: "user", content: [
        { type: "tool_result", tool_use_id: "c1", is_error: true, content: [{ type: "text", text: "gone" }] },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "a document" } },
        { type: "of_the_future", beams: [1] }, { type: "text", text: "Say hello" }] },
    ],
    thinking: { type: "adaptive" }, output_config: { effort: "low" }, metadata: { user_id: "u" }, betas: ["of-the-future-2030-01-01"],
    tools: [{ type: "web_search_20250305", name: "web_search" }], temperature: 1, top_k: 5, service_tier: "auto", of_the_future: [1],
  });
  assert.match(textOf(answer), /./);
});

test("AR3 countTokens, thirty at once", async () => {
  const request = { model: MODEL, messages: hello.messages, system: "word ".repeat(5000), tools: [plainTool] };
  const counts = await Promise.all(Array.from({ length: 30 }, () => client.messages.countTokens(request)));
  assert.equal(new Set(counts.map((c) => c.input_tokens)).size, 1);
  assert.ok(counts[0].input_tokens > 4000 && counts[0].input_tokens < 8000, JSON.stringify(counts[0]));
  const less = await client.messages.countTokens({ model: MODEL, messages: hello.messages });
  assert.ok(less.input_tokens > 0 && less.input_tokens < 50, JSON.stringify(less));
});

if (STRUCTURED === "1") test("object of a schema", async () => {
  const schema = z.object({ title: z.string(), score: z.number().int(), tags: z.array(z.string()) });
  const message = await client.messages.parse({
    ...hello, messages: [{ role: "user", content: "Describe yourself" }], output_config: { format: zodOutputFormat(schema) },
  });
  assert.deepEqual(Object.keys(message.parsed_output).sort(), ["score", "tags", "title"]);
});

test("models", async () => {
  const ids = [];
  for await (const model of client.models.list({ limit: 1000 })) {
    assert.equal(model.type, "model");
    assert.match(model.display_name, /./);
    assert.ok(!Number.isNaN(Date.parse(model.created_at)));
    ids.push(model.id);
  }
  // The second form is for pickers that hide ids of other makers.
  assert.ok(ids.includes(MODEL) && ids.includes(`anthropic.${MODEL}`), ids.join());
  assert.equal((await client.models.retrieve(MODEL)).id, MODEL);
  const answer = await client.messages.create({ ...hello, model: `anthropic.${MODEL}` });
  assert.equal(answer.model, `anthropic.${MODEL}`);
  await assert.rejects(client.models.retrieve("no-such/model:1"), NotFoundError);
});

test("/v1 twice", async () => {
  const other = client.withOptions({ baseURL: BASE_URL });
  assert.match(textOf(await other.messages.create(hello)), /simulated/);
});

const refusals = [
  ["wrong key", AuthenticationError, 401, "authentication_error", {}, { apiKey: "wrong" }],
  ["unknown model", NotFoundError, 404, "not_found_error", { model: "no-such-model" }],
  ["no messages", BadRequestError, 400, "invalid_request_error", { messages: [] }],
  ["picture from elsewhere", BadRequestError, 400, "invalid_request_error",
    { messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url: "https://example.com/a.png" } }] }] }],
];
for (const [name, kind, status, type, change, options] of refusals) {
  for (const stream of [false, true]) {
    test(`refusal: ${name}, stream ${stream}`, async () => {
      const other = options ? client.withOptions(options) : client;
      await assert.rejects(other.messages.create({ ...hello, ...change, stream }), (err) => {
        assert.ok(err instanceof kind, `${err.constructor.name}: ${err.message}`);
        assert.equal(err.status, status);
        assert.equal(err.type, type);
        assert.equal(err.error.type, "error");
        assert.match(err.error.error.message, /\w+ \w+/);
        assert.equal(err.requestID, err.error.request_id);
        return true;
      });
    });
  }
}

test("a problem that lasts is not tried again", async () => {
  let requests = 0;
  const counting = (url, init) => {
    requests++;
    return fetch(url, init);
  };
  const patient = new Anthropic({ baseURL: BASE_URL, apiKey: "wrong", maxRetries: 3, fetch: counting, logger, logLevel: "warn" });
  await assert.rejects(patient.messages.create(hello), AuthenticationError);
  assert.equal(requests, 1);
});

test("abort in mid-stream, and the port still answers", async () => {
  const stream = client.messages.stream(hello);
  stream.on("text", () => stream.abort());
  await assert.rejects(stream.finalMessage(), APIUserAbortError);
  const next = await client.messages.create(hello);
  assert.equal(next.stop_reason, "end_turn");
});
