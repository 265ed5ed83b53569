// What the AI SDK demands of the port, over each of its providers. The
// environment is that of openai.mjs, and STRUCTURED=1 when the model answers
// in JSON if asked to.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test, { describe } from "node:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, defaultSettingsMiddleware, generateText, Output, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { z } from "zod";

const { BASE_URL, API_KEY, MODEL, FILE, MARK, STRUCTURED } = process.env;
const prompt = "Say hello";
const readPrompt = `Read the file ${FILE} and tell me its first line`;

const openAI = (options) => createOpenAI({ baseURL: BASE_URL, apiKey: API_KEY, ...options });
const providers = {
  "openai-compatible": (options) => createOpenAICompatible({
    name: "cursortray", baseURL: BASE_URL, apiKey: API_KEY, includeUsage: true, supportsStructuredOutputs: true, ...options,
  }),
  "openai, chat": (options) => openAI(options).chat,
  "openai, Responses": openAI, // its default
  // For a model that it does not know it warns unless the limit is given, and
  // asks for an object by a tool that must be called, unless told otherwise.
  anthropic: (options) => (id) => wrapLanguageModel({
    model: createAnthropic({ baseURL: BASE_URL, apiKey: API_KEY, ...options })(id),
    middleware: defaultSettingsMiddleware({ settings: {
      maxOutputTokens: 4000, providerOptions: { anthropic: { structuredOutputMode: "outputFormat" } },
    } }),
  }),
};

const warnings = [];
globalThis.AI_SDK_LOG_WARNINGS = (list) => warnings.push(list);
test.after(() => assert.deepEqual(warnings, []));

function readTool(model) {
  const calls = [];
  const read_file = tool({
    description: "Reads a text file.",
    inputSchema: z.object({ path: z.string() }),
    execute: ({ path }) => {
      calls.push(path);
      return readFile(path, "utf8");
    },
  });
  return { calls, options: { model, prompt: readPrompt, tools: { read_file }, stopWhen: stepCountIs(4) } };
}

function checkUsage(usage) {
  assert.ok(usage.inputTokens > 0 && usage.outputTokens > 0, JSON.stringify(usage));
}

async function readWith(model, more) {
  const { calls, options } = readTool(model);
  const result = await generateText({ ...options, ...more });
  assert.match(result.text, new RegExp(MARK));
  assert.deepEqual(calls, [FILE]);
  assert.deepEqual(result.steps.map((s) => s.finishReason), ["tool-calls", "stop"]);
}

for (const [name, provide] of Object.entries(providers)) describe(name, { concurrency: 4 }, () => {
  const model = provide()(MODEL);

  test("generateText", async () => {
    const result = await generateText({ model, prompt });
    assert.match(result.text, /simulated/);
    assert.equal(result.finishReason, "stop");
    checkUsage(result.usage);
  });

  test("streamText with reasoning", async () => {
    const result = streamText({ model, prompt });
    const parts = { "text-delta": "", "reasoning-delta": "" };
    const kinds = new Set();
    for await (const part of result.fullStream) {
      kinds.add(part.type);
      if (part.type in parts) parts[part.type] += part.text;
      assert.notEqual(part.type, "error", String(part.error));
    }
    assert.match(parts["text-delta"], /simulated/);
    assert.equal(await result.text, parts["text-delta"]);
    // The provider for OpenAI's own chat completions knows no reasoning.
    if (name !== "openai, chat") assert.match(parts["reasoning-delta"], /\w+ \w+/);
    assert.equal(await result.finishReason, "stop");
    checkUsage(await result.usage);
    assert.ok(kinds.has("finish"));
  });

  test("tool loop with generateText", () => readWith(model));

  test("tool loop with streamText", async () => {
    const { calls, options } = readTool(model);
    const result = streamText(options);
    let text = "";
    for await (const delta of result.textStream) text += delta;
    assert.match(text, new RegExp(MARK));
    assert.deepEqual(calls, [FILE]);
    assert.deepEqual((await result.steps).map((s) => s.finishReason), ["tool-calls", "stop"]);
  });

  if (STRUCTURED === "1") test("object of a schema", async () => {
    const schema = z.object({ title: z.string(), score: z.number().int(), tags: z.array(z.string()) });
    const { output } = await generateText({ model, prompt: "Describe yourself", output: Output.object({ schema }) });
    assert.deepEqual(Object.keys(output).sort(), ["score", "tags", "title"]);
  });

  for (const [what, bad, status] of [
    ["wrong key", provide({ apiKey: "wrong" })(MODEL), 401],
    ["unknown model", provide()("no-such-model"), 404],
  ]) {
    test(`generateText, ${what}`, async () => {
      await assert.rejects(generateText({ model: bad, prompt, maxRetries: 0 }), (err) => {
        assert.ok(APICallError.isInstance(err), String(err));
        assert.equal(err.statusCode, status);
        assert.match(err.message, /\w+ \w+/);
        return true;
      });
    });
    test(`streamText, ${what}`, async () => {
      const errors = [];
      const result = streamText({ model: bad, prompt, maxRetries: 0, onError: ({ error }) => errors.push(error) });
      await result.consumeStream();
      assert.deepEqual(errors.map((e) => e.statusCode), [status]);
    });
  }

  test("abort in mid-stream", async () => {
    const stop = new AbortController();
    const kinds = [];
    const result = streamText({ model, prompt, abortSignal: stop.signal });
    for await (const part of result.fullStream) {
      kinds.push(part.type);
      if (part.type === "text-delta") stop.abort();
    }
    assert.equal(kinds.at(-1), "abort");
  });
});

// By default the client takes the server to store answers, and sends of them
// only the ids of their items.
test("Responses with the default store: a conversation of several turns", async () => {
  const sent = [];
  const model = openAI({ fetch: (url, init) => {
    sent.push(init.body);
    return fetch(url, init);
  } })(MODEL);
  const messages = [{ role: "user", content: prompt }];
  const first = await generateText({ model, messages });
  assert.match(first.text, /simulated/);
  messages.push(...first.response.messages, { role: "user", content: readPrompt });
  const { calls, options } = readTool(model);
  const second = streamText({ ...options, prompt: undefined, messages });
  assert.match(await second.text, new RegExp(MARK));
  assert.deepEqual(calls, [FILE]);
  messages.push(...(await second.response).messages, { role: "user", content: prompt });
  const third = await generateText({ model, messages, tools: options.tools });
  assert.match(third.text, /simulated/);
  assert.match(sent.at(-1), /"item_reference","id":"msg_/);
});

// Without a store the client sends reasoning back itself.
test("Responses without a store", async () => {
  const openai = { store: false, include: ["reasoning.encrypted_content"] };
  await readWith(openAI()(MODEL), { providerOptions: { openai } });
});
