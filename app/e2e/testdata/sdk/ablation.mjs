// That the port's streams hold what clients cannot do without: each field and
// event of the list is taken out on the way, and the SDKs named beside it must
// then fail, warn or lose something. The same check passes with the whole
// stream, and without what nobody needs. The environment is that of openai.mjs.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test, { describe } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";

const { BASE_URL, API_KEY, MODEL, FILE, MARK } = process.env;
const prompt = `Read the file ${FILE} and tell me its first line`;
const description = "Reads a text file.";
const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const limit = 20_000; // a client that waits for what does not come has lost it, too

globalThis.AI_SDK_LOG_WARNINGS = false;
const logger = { error() {}, warn(...words) { throw new Error(`it warns: ${words}`); }, info() {}, debug() {} };

// fetchWithout takes something out of every stream. change gets an event as
// {event, data}, changes it, and returns false to take it out altogether.
const fetchWithout = (change) => async (url, init) => {
  const response = await fetch(url, init);
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const one = (block) => {
    const fields = Object.fromEntries(block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]));
    if (fields.data === undefined) return block + "\n\n";
    const event = { event: fields.event, data: fields.data === "[DONE]" ? fields.data : JSON.parse(fields.data) };
    if (change(event) === false) return "";
    const data = event.data === "[DONE]" ? event.data : JSON.stringify(event.data);
    return (event.event === undefined ? "" : `event: ${event.event}\n`) + `data: ${data}\n\n`;
  };
  let rest = "";
  const body = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new TransformStream({
    transform(text, out) {
      const blocks = (rest + text).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) out.enqueue(one(block));
    },
  })).pipeThrough(new TextEncoderStream());
  return new Response(body, { status: response.status, headers: response.headers });
};

// An agent does one loop of tools and throws if anything lacks.
const agents = {
  async "openai, chat"(fetch, signal) {
    const client = new OpenAI({ baseURL: BASE_URL, apiKey: API_KEY, maxRetries: 0, fetch, logger, logLevel: "warn" });
    const calls = [];
    const read = ({ path }) => {
      calls.push(path);
      return readFile(path, "utf8");
    };
    const runner = client.chat.completions.runTools({
      model: MODEL, stream: true, messages: [{ role: "user", content: prompt }], stream_options: { include_usage: true },
      tools: [{ type: "function", function: { name: "read_file", description, parameters, parse: JSON.parse, function: read } }],
    }, { signal, maxChatCompletions: 3 });
    const chunks = [];
    runner.on("chunk", (chunk) => chunks.push(chunk));
    assert.match(await runner.finalContent(), new RegExp(MARK));
    assert.deepEqual(calls, [FILE]);
    const answers = runner.messages.filter((m) => m.role === "assistant");
    assert.equal(answers.length, 2);
    const [call] = answers[0].tool_calls;
    assert.deepEqual([call.type, call.id === runner.messages.find((m) => m.role === "tool").tool_call_id], ["function", true]);
    assert.ok(call.id);
  },

  async "openai, Responses"(fetch, signal) {
    const client = new OpenAI({ baseURL: BASE_URL, apiKey: API_KEY, maxRetries: 0, fetch, logger, logLevel: "warn" });
    const tools = [{ type: "function", name: "read_file", description, parameters, strict: false }];
    const input = [{ role: "user", content: prompt }];
    const ask = async () => {
      const stream = client.responses.stream({ model: MODEL, tools, input }, { signal });
      let text = "";
      stream.on("response.output_text.delta", (event) => { text = event.snapshot; });
      const final = await stream.finalResponse();
      assert.equal(final.output_text, text);
      assert.match(final.id, /./);
      assert.equal(final.status, "completed");
      return final;
    };
    const first = await ask();
    const call = first.output.find((item) => item.type === "function_call");
    const { path } = JSON.parse(call.arguments);
    assert.equal(path, FILE);
    input.push(...first.output, { type: "function_call_output", call_id: call.call_id, output: await readFile(path, "utf8") });
    assert.match((await ask()).output_text, new RegExp(MARK));
  },

  async anthropic(fetch, signal) {
    const client = new Anthropic({ baseURL: BASE_URL.replace(/\/v1$/, ""), apiKey: API_KEY, maxRetries: 0, fetch, logger, logLevel: "warn" });
    const messages = [{ role: "user", content: prompt }];
    const ask = async () => {
      const stream = client.messages.stream({ model: MODEL, max_tokens: 1000, messages, tools: [{ name: "read_file", description, input_schema: parameters }] }, { signal });
      const blocks = [];
      stream.on("contentBlock", (block) => blocks.push(block));
      const final = await stream.finalMessage();
      // A block is whole when its end is there.
      assert.deepEqual(blocks, final.content);
      assert.ok(final.stop_reason);
      assert.ok(final.usage.input_tokens > 0);
      messages.push({ role: "assistant", content: final.content });
      return final.content;
    };
    const use = (await ask()).find((block) => block.type === "tool_use");
    assert.equal(use.input.path, FILE);
    assert.match(use.id, /./);
    messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: use.id, content: await readFile(FILE, "utf8") }] });
    assert.match((await ask()).filter((block) => block.type === "text").map((block) => block.text).join(""), new RegExp(MARK));
  },

  "ai, compatible": (fetch, signal) => loop(createOpenAICompatible({ name: "cursortray", baseURL: BASE_URL, apiKey: API_KEY, fetch })(MODEL), signal),
  "ai, chat": (fetch, signal) => loop(createOpenAI({ baseURL: BASE_URL, apiKey: API_KEY, fetch }).chat(MODEL), signal),
  "ai, Responses": (fetch, signal) => loop(createOpenAI({ baseURL: BASE_URL, apiKey: API_KEY, fetch })(MODEL), signal),
  "ai, Messages": (fetch, signal) => loop(createAnthropic({ baseURL: BASE_URL, apiKey: API_KEY, fetch })(MODEL), signal),
};

// loop is the agent of the AI SDK, over one of its providers.
async function loop(model, abortSignal) {
  const calls = [];
  const read_file = tool({
    description, inputSchema: z.object({ path: z.string() }),
    execute: ({ path }) => {
      calls.push(path);
      return readFile(path, "utf8");
    },
  });
  const result = streamText({ model, prompt, tools: { read_file }, stopWhen: stepCountIs(3), maxRetries: 0, abortSignal, onError() {} });
  for await (const part of result.fullStream) {
    if (part.type === "error") throw part.error;
    assert.notEqual(part.type, "abort");
  }
  assert.match(await result.text, new RegExp(MARK));
  assert.deepEqual(calls, [FILE]);
  const steps = await result.steps;
  assert.deepEqual(steps.map((step) => step.finishReason), ["tool-calls", "stop"]);
  assert.deepEqual(steps.map((step) => Boolean(step.response.id)), [true, true]);
}

const choices = (change) => ({ data }) => data.choices?.forEach((choice) => change(choice));
const calls = (change) => choices(({ delta }) => delta.tool_calls?.forEach((call) => change(call)));
const types = (pattern) => ({ data }) => !pattern.test(data.type);

// What is taken out, and who must miss it; nobody where the list is empty. The
// SDKs make up the id of a call that has none; agents that do not are asked by
// the test of streams with something taken out.
const dialects = {
  chat: {
    agents: ["openai, chat", "ai, compatible", "ai, chat"],
    without: [
      ["choices[].index", choices((choice) => { delete choice.index; }), ["openai, chat", "ai, chat"]],
      ["delta.role", choices(({ delta }) => { delete delta.role; }), ["openai, chat"]],
      ["the index of a call", calls((call) => { delete call.index; }), ["openai, chat", "ai, chat"]],
      ["the type of a call", calls((call) => { delete call.type; }), ["openai, chat"]],
      ["finish_reason", choices((choice) => { choice.finish_reason = null; }), ["openai, chat", "ai, compatible", "ai, chat"]],
      ["object, created and model", ({ data }) => { for (const name of ["object", "created", "model"]) delete data[name]; }, []],
      ["usage", ({ data }) => { delete data.usage; }, []],
      ["[DONE]", ({ data }) => data !== "[DONE]", []],
    ],
  },
  Responses: {
    agents: ["openai, Responses", "ai, Responses"],
    without: [
      ["response.id", ({ data }) => { delete data.response?.id; }, ["openai, Responses", "ai, Responses"]],
      ["response.created", types(/^response\.created$/), ["openai, Responses"]],
      ["output_item.added", types(/output_item\.added$/), ["openai, Responses", "ai, Responses"]],
      ["deltas", types(/\.delta$/), ["openai, Responses", "ai, Responses"]],
      ["output_item.done", types(/output_item\.done$/), ["ai, Responses"]],
      ["response.completed", types(/^response\.completed$/), ["openai, Responses", "ai, Responses"]],
      ["output of response.completed", ({ data }) => { if (data.type === "response.completed") data.response.output = []; }, ["openai, Responses"]],
      ["response.in_progress", types(/in_progress$/), []],
    ],
  },
  Messages: {
    agents: ["anthropic", "ai, Messages"],
    without: [
      ["event: lines", (event) => { event.event = undefined; }, ["anthropic"]],
      ["message_start", types(/^message_start$/), ["anthropic"]],
      ["usage of message_start", ({ data }) => { delete data.message?.usage; }, ["anthropic", "ai, Messages"]],
      ["content_block_start", types(/^content_block_start$/), ["anthropic", "ai, Messages"]],
      ["content_block_stop", types(/^content_block_stop$/), ["anthropic", "ai, Messages"]],
      ["message_delta", types(/^message_delta$/), ["anthropic", "ai, Messages"]],
      ["message_stop", types(/^message_stop$/), ["anthropic", "ai, Messages"]],
      ["the id of a call", ({ data }) => { delete data.content_block?.id; }, ["anthropic", "ai, Messages"]],
      ["ping", types(/^ping$/), []],
    ],
  },
};

// misses tells what an agent says of a stream; undefined is that it lacks
// nothing.
async function misses(agent, change) {
  const signal = AbortSignal.timeout(limit);
  const late = new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("it waits"))));
  late.catch(() => {});
  try {
    await Promise.race([agents[agent](fetchWithout(change), signal), late]);
  } catch (err) {
    return err;
  }
}

for (const [dialect, { agents, without }] of Object.entries(dialects)) describe(dialect, { concurrency: 4 }, () => {
  for (const agent of agents) test(`${agent}, with everything`, async () => assert.ifError(await misses(agent, () => {})));
  for (const [what, change, who] of without) test(`without ${what}`, async () => {
    const missed = await Promise.all(agents.map(async (agent) => [agent, await misses(agent, change)]));
    assert.deepEqual(missed.filter(([, err]) => err).map(([agent]) => agent), who);
  });
});

// Promises of the SDKs that nobody waits for once a stream is broken.
process.on("unhandledRejection", () => {});
