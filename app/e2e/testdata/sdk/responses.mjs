// What the openai package demands of the port in Responses. The environment is
// that of openai.mjs, and STRUCTURED=1 when the model answers in JSON if asked
// to.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test, { describe } from "node:test";
import OpenAI, { APIUserAbortError, AuthenticationError, BadRequestError, NotFoundError } from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

const { BASE_URL, API_KEY, MODEL, FILE, MARK, STRUCTURED } = process.env;
const client = new OpenAI({ baseURL: BASE_URL, apiKey: API_KEY, maxRetries: 0, timeout: 60_000 });
const hello = { model: MODEL, input: "Say hello", store: false };
const tools = [
  {
    type: "function", name: "read_file", description: "Reads a text file.", strict: true,
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"], additionalProperties: false },
  },
  { type: "web_search" },
];

function checkUsage(usage) {
  assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0, JSON.stringify(usage));
  assert.equal(usage.total_tokens, usage.input_tokens + usage.output_tokens);
  assert.ok(usage.input_tokens_details.cached_tokens >= 0 && usage.output_tokens_details.reasoning_tokens >= 0);
}

function checkWhole(answer) {
  assert.equal(answer.object, "response");
  assert.equal(answer.status, "completed");
  assert.equal(answer.model, MODEL);
  assert.equal(answer.error, null);
  assert.match(answer.output_text, /simulated/);
  assert.deepEqual(answer.output.map((item) => item.type), ["reasoning", "message"]);
  assert.equal(new Set(answer.output.map((item) => item.id)).size, 2);
  checkUsage(answer.usage);
}

describe("Responses", { concurrency: 4 }, () => {
  test("whole answer", async () => checkWhole(await client.responses.create(hello)));

  test("events of a stream", async () => {
    const events = [];
    for await (const event of await client.responses.create({ ...hello, stream: true })) events.push(event);
    assert.deepEqual(events.map((e) => e.sequence_number), events.map((_, i) => i));
    assert.deepEqual(events.slice(0, 2).map((e) => e.type), ["response.created", "response.in_progress"]);
    assert.equal(events.at(-1).type, "response.completed");
    assert.ok(events.filter((e) => e.type === "response.output_text.delta").length > 1, "the answer came in one piece");
    checkUsage(events.at(-1).response.usage);
  });

  test("ST12 the joined stream equals the whole answer", async () => {
    const stream = client.responses.stream(hello);
    let joined = "";
    stream.on("response.output_text.delta", (event) => { joined += event.delta; });
    const final = await stream.finalResponse();
    checkWhole(final);
    assert.equal(final.output_text, joined);
    assert.equal((await client.responses.create(hello)).output_text, joined);
  });

  // Each way to ask gives the next response.
  const ways = {
    "not streamed": (params) => client.responses.create(params),
    streamed: (params) => client.responses.stream(params).finalResponse(),
  };
  for (const [name, ask] of Object.entries(ways)) {
    test(`tool loop, ${name}`, async () => {
      const input = [{ role: "user", content: `Read the file ${FILE} and tell me its first line` }];
      const first = await ask({ model: MODEL, input, tools });
      const call = first.output.find((item) => item.type === "function_call");
      assert.equal(call.name, "read_file");
      assert.match(call.call_id, /^[A-Za-z0-9_-]{1,40}$/);
      assert.deepEqual(JSON.parse(call.arguments), { path: FILE });
      const output = await readFile(FILE, "utf8");
      input.push(...first.output, { type: "function_call_output", call_id: call.call_id, output });
      const second = await ask({ model: MODEL, input, tools });
      assert.match(second.output_text, new RegExp(MARK));
      assert.ok(!second.output.some((item) => item.type === "function_call"));
    });
  }

  test("tool_choice none", async () => {
    const answer = await client.responses.create({ model: MODEL, input: `Read the file ${FILE}`, tools, tool_choice: "none" });
    assert.ok(!answer.output.some((item) => item.type === "function_call"));
  });

  if (STRUCTURED === "1") test("an object of a schema is parsed", async () => {
    const format = zodTextFormat(z.object({ title: z.string(), tags: z.array(z.string()) }), "thing");
    const answer = await client.responses.parse({ ...hello, text: { format } });
    assert.deepEqual(Object.keys(answer.output_parsed).sort(), ["tags", "title"]);
  });

  test("items of all types, unknown fields", async () => {
    const answer = await client.responses.create({
      model: MODEL, instructions: "Be brief.", tools: [...tools, { type: "namespace", name: "team", tools: [{ type: "function", name: "ask", parameters: {} }] }],
      input: [
        { role: "developer", content: [{ type: "input_text", text: "Still brief." }] },
        { type: "message", role: "user", content: [{ type: "input_text", text: "Hi", of_the_future: 1 }] },
        { type: "reasoning", id: "rs_1", summary: [], content: null, encrypted_content: null },
        { type: "function_call", call_id: "c1", name: "ask", namespace: "team", arguments: "" },
        { type: "function_call_output", call_id: "c1", output: [{ type: "input_text", text: "done" }] },
        { type: "custom_tool_call", call_id: "c2", name: "patch", input: "x" },
        { type: "custom_tool_call_output", call_id: "c2", output: "ok" },
        { type: "item_of_the_future", id: "x" },
        { role: "user", content: "Say hello" },
      ],
      temperature: 0.2, top_p: 1, user: "someone", metadata: { a: "b" }, truncation: "auto", include: ["reasoning.encrypted_content"], of_the_future: [1],
    });
    assert.match(answer.output_text, /./);
  });

  const refusals = [
    ["wrong key", AuthenticationError, 401, "invalid_api_key", undefined, {}, { apiKey: "wrong" }],
    ["unknown model", NotFoundError, 404, "model_not_found", undefined, { model: "no-such-model" }],
    ["previous response", BadRequestError, 400, undefined, "previous_response_id", { previous_response_id: "resp_1" }],
    ["background", BadRequestError, 400, undefined, "background", { background: true }],
    ["no input", BadRequestError, 400, undefined, "input", { input: [] }],
  ];
  for (const [name, kind, status, code, param, change, options] of refusals) {
    for (const stream of [false, true]) {
      test(`refusal: ${name}, stream ${stream}`, async () => {
        const other = options ? client.withOptions(options) : client;
        await assert.rejects(other.responses.create({ ...hello, ...change, stream }), (err) => {
          assert.ok(err instanceof kind, `${err.constructor.name}: ${err.message}`);
          assert.equal(err.status, status);
          assert.match(err.error.message, /\w+ \w+/);
          if (code) assert.equal(err.code, code);
          if (param) assert.equal(err.param, param);
          return true;
        });
      });
    }
  }

  test("nothing is kept", async () => {
    await assert.rejects(client.responses.retrieve("resp_1"), NotFoundError);
    await assert.rejects(client.responses.delete("resp_1"), NotFoundError);
  });

  test("abort in mid-stream, and the port still answers", async () => {
    const stream = client.responses.stream(hello);
    stream.on("response.output_text.delta", () => stream.abort());
    await assert.rejects(stream.finalResponse(), APIUserAbortError);
    checkWhole(await client.responses.create(hello));
  });
});
