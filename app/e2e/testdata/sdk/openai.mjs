// What the openai package demands of the port. Environment: BASE_URL (with
// /v1), API_KEY, MODEL, FILE (a path), MARK (a word of its first line).
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import OpenAI, { APIUserAbortError, AuthenticationError, BadRequestError, NotFoundError } from "openai";

const { BASE_URL, API_KEY, MODEL, FILE, MARK } = process.env;
const client = new OpenAI({ baseURL: BASE_URL, apiKey: API_KEY, maxRetries: 0, timeout: 60_000 });
const hello = [{ role: "user", content: "Say hello" }];
const readPrompt = [{ role: "user", content: `Read the file ${FILE} and tell me its first line` }];

// How often the model's tool ran is what the loops are checked by.
function readTool() {
  const tool = { calls: [] };
  tool.tools = [{
    type: "function",
    function: {
      name: "read_file",
      description: "Reads a text file.",
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      parse: JSON.parse,
      function: ({ path }) => {
        tool.calls.push(path);
        return readFile(path, "utf8");
      },
    },
  }];
  return tool;
}

function checkUsage(usage) {
  assert.ok(usage.prompt_tokens > 0 && usage.completion_tokens > 0, JSON.stringify(usage));
  assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
}

test("whole answer", async () => {
  const answer = await client.chat.completions.create({ model: MODEL, messages: hello });
  assert.equal(answer.object, "chat.completion");
  assert.equal(answer.model, MODEL);
  assert.match(answer.id, /./);
  const [choice, ...others] = answer.choices;
  assert.equal(others.length, 0);
  assert.equal(choice.index, 0);
  assert.equal(choice.finish_reason, "stop");
  assert.equal(choice.message.role, "assistant");
  assert.match(choice.message.content, /simulated/);
  checkUsage(answer.usage);
});

test("chunks of a stream", async () => {
  const stream = await client.chat.completions.create({
    model: MODEL, messages: hello, stream: true, stream_options: { include_usage: true },
  });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  assert.deepEqual([...new Set(chunks.map((c) => `${c.object} ${c.model}`))], [`chat.completion.chunk ${MODEL}`]);
  assert.equal(new Set(chunks.map((c) => `${c.id} ${c.created}`)).size, 1);
  const withChoice = chunks.filter((c) => c.choices.length > 0);
  assert.equal(withChoice[0].choices[0].delta.role, "assistant");
  assert.equal(withChoice.filter((c) => c.choices[0].delta.role).length, 1);
  const finishes = withChoice.map((c) => c.choices[0].finish_reason).filter(Boolean);
  assert.deepEqual(finishes, ["stop"]);
  assert.equal(withChoice.at(-1).choices[0].finish_reason, "stop");
  assert.ok(withChoice.filter((c) => c.choices[0].delta.content).length > 1, "the answer came in one piece");
  assert.deepEqual(chunks.at(-1).choices, []);
  checkUsage(chunks.at(-1).usage);
});

test("ST12 the joined stream equals the whole answer", async () => {
  const stream = client.chat.completions.stream({ model: MODEL, messages: hello });
  let joined = "";
  stream.on("content", (delta) => { joined += delta; });
  const final = await stream.finalChatCompletion();
  assert.equal(final.choices[0].message.content, joined);
  assert.equal(final.choices[0].finish_reason, "stop");
  const whole = await client.chat.completions.create({ model: MODEL, messages: hello });
  assert.equal(whole.choices[0].message.content, joined);
});

for (const stream of [false, true]) {
  test(`tool loop, stream ${stream}`, async () => {
    const tool = readTool();
    const runner = client.chat.completions.runTools({ model: MODEL, messages: readPrompt, tools: tool.tools, stream });
    assert.match(await runner.finalContent(), new RegExp(MARK));
    assert.deepEqual(tool.calls, [FILE]);
    const [call] = runner.messages.find((m) => m.tool_calls).tool_calls;
    assert.equal(call.type, "function");
    assert.match(call.id, /^[A-Za-z0-9_-]{1,40}$/);
  });
}

test("tool_choice none", async () => {
  const { tools } = readTool();
  const answer = await client.chat.completions.create({
    model: MODEL, messages: readPrompt, tools: JSON.parse(JSON.stringify(tools)), tool_choice: "none",
  });
  assert.equal(answer.choices[0].finish_reason, "stop");
  assert.equal(answer.choices[0].message.tool_calls, undefined);
});

test("messages of all roles and shapes, unknown fields", async () => {
  const answer = await client.chat.completions.create({
    model: MODEL,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }, { type: "text", text: "there" }] },
      { role: "assistant", content: null, reasoning_content: "hm", tool_calls: [{ id: "c1", type: "function", function: { name: "gone", arguments: "" } }] },
      { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "done" }] },
      { role: "developer", content: "Still brief." },
      { role: "user", content: "Say hello" },
    ],
    temperature: 0.2, top_p: 1, seed: 7, n: 1, store: false, user: "someone", metadata: { a: "b" }, of_the_future: [1],
  });
  assert.match(answer.choices[0].message.content, /./);
});

test("models", async () => {
  const list = await client.models.list();
  assert.ok(list.data.some((m) => m.id === MODEL && m.object === "model" && m.created >= 0 && m.owned_by));
  const model = await client.models.retrieve(MODEL);
  assert.equal(model.id, MODEL);
  await assert.rejects(client.models.retrieve("no-such/model:1"), (err) => {
    assert.ok(err instanceof NotFoundError);
    assert.equal(err.code, "model_not_found");
    return true;
  });
});

const refusals = [
  ["wrong key", AuthenticationError, 401, "invalid_api_key", null, {}, { apiKey: "wrong" }],
  ["unknown model", NotFoundError, 404, "model_not_found", undefined, { model: "no-such-model" }],
  ["two answers", BadRequestError, 400, undefined, "n", { n: 2 }],
  ["no messages", BadRequestError, 400, undefined, "messages", { messages: [] }],
  ["wrong type", BadRequestError, 400, undefined, "stream", { stream: "yes" }],
];
for (const [name, kind, status, code, param, change, options] of refusals) {
  test(`refusal: ${name}`, async () => {
    const other = options ? client.withOptions(options) : client;
    await assert.rejects(other.chat.completions.create({ model: MODEL, messages: hello, ...change }), (err) => {
      assert.ok(err instanceof kind, `${err.constructor.name}: ${err.message}`);
      assert.equal(err.status, status);
      assert.match(err.error.message, /\w+ \w+/);
      assert.match(err.type, /^(authentication|invalid_request)_error$/);
      if (code) assert.equal(err.code, code);
      if (param !== undefined) assert.equal(err.param, param);
      return true;
    });
  });
}

test("a refused stream is an error with a status, not a broken stream", async () => {
  const bad = client.chat.completions.create({ model: "no-such-model", messages: hello, stream: true });
  await assert.rejects(bad, NotFoundError);
});

test("abort in mid-stream, and the port still answers", async () => {
  const stream = client.chat.completions.stream({ model: MODEL, messages: hello });
  stream.on("content", () => stream.abort());
  await assert.rejects(stream.finalChatCompletion(), APIUserAbortError);
  const next = await client.chat.completions.create({ model: MODEL, messages: hello });
  assert.equal(next.choices[0].finish_reason, "stop");
});
