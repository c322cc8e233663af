import { afterEach, describe, expect, it } from '@jest/globals';
import { isJsonObject, type JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { textTool, toolServer } from '../support/tool-server.js';
import { chatServer, refusal, type VendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

let home: Home;
let server: VendorServer;
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

/** The names of the tools in a request, in their order, in the form of any vendor. */
function toolsIn({ tools }: JsonObject): readonly string[] {
  const list = Array.isArray(tools) ? tools.filter(isJsonObject) : [];
  const flat = list.flatMap((tool) =>
    Array.isArray(tool.functionDeclarations) ? tool.functionDeclarations.filter(isJsonObject) : [tool],
  );
  return flat.map(({ name, function: called }) => String(name ?? (isJsonObject(called) ? called.name : '')));
}

/** What each vendor says of the schema of a tool, in its own words. */
const WORDS: Readonly<Record<string, (name: string, place: number) => JsonObject>> = {
  'OpenAI Chat Completions': (name, place) => ({
    message: `Invalid schema for function '${name}': schema must have type 'object' and not have 'oneOf' at the top level.`,
    type: 'invalid_request_error',
    param: `tools[${place}].function.parameters`,
    code: 'invalid_function_parameters',
  }),
  'OpenAI Responses': (name, place) => ({
    message: `Invalid schema for function '${name}': In context=(), array schema missing items.`,
    type: 'invalid_request_error',
    param: `tools[${place}].parameters`,
    code: 'invalid_function_parameters',
  }),
  Anthropic: (_name, place) => ({
    type: 'invalid_request_error',
    message: `tools.${place}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12`,
  }),
  Gemini: (_name, place) => ({
    code: 400,
    status: 'INVALID_ARGUMENT',
    message: `* GenerateContentRequest.tools[0].function_declarations[${place}].parameters_json_schema.properties[x].enum: only allowed for STRING type`,
  }),
};
const UNNAMED =
  'json: cannot unmarshal array into Go struct field ToolProperty.tools.function.parameters.properties.enum of type string';

/** A vendor that refuses each request with one of these tools, naming the first one. */
async function start(dialect: Dialect, bad: readonly string[], said: (name: string, place: number) => JsonObject) {
  server = await chatServer((body) => {
    const place = toolsIn(body).findIndex((name) => bad.includes(name));
    return place === -1 ? dialect.text('Fine.') : refusal(400, said(toolsIn(body)[place] ?? '', place));
  });
  home = makeHome(null);
  const tools = ['good', 'bad', 'worse'].map((name) => textTool(name));
  const notes = toolServer(home.folder, 'notes', { tools });
  home.writeConfig(
    JSON.stringify({
      provider: dialect.provider,
      model: 'm',
      api_key: 'k',
      api_base: `${server.url}${dialect.path}`,
      ...(dialect.provider === 'openai' && { openai: dialect.settings.options }),
      mcpServers: { notes: notes.entry },
    }),
  );
}

const last = (): readonly string[] => toolsIn(server.requests.at(-1)?.body ?? {});

describe('a tool of a server whose schema a vendor refuses', () => {
  for (const dialect of dialects.filter(({ provider }) => provider !== 'ollama'))
    it(`is left out and named, once, and the turn continues: ${dialect.title}`, async () => {
      const words = WORDS[dialect.title];
      if (words === undefined) throw new Error(`No words of ${dialect.title}.`);
      await start(dialect, ['mcp__notes__bad', 'mcp__notes__worse'], (...of) => ({ error: words(...of) }));
      const run = await runProgram(home, ['ask', 'go']);
      expect(run).toMatchObject({ status: 0, stdout: 'Fine.\n' });
      for (const name of ['bad', 'worse'])
        expect(run.stderr).toContain(`'m' refused the tool mcp__notes__${name}: it is left out.`);
      expect(last()).toEqual(expect.arrayContaining(['bash', 'mcp__notes__good']));
      const asked = server.requests.length;
      expect((await runProgram(home, ['ask', 'go'])).stderr).toBe('');
      expect(server.requests.length).toBe(asked + 1);
    });

  it("that is not named takes the other servers' tools with it, but none of hi's", async () => {
    const ollama = dialects.find(({ provider }) => provider === 'ollama');
    if (ollama === undefined) throw new Error('There is no dialect of Ollama.');
    await start(ollama, ['mcp__notes__bad'], () => ({ error: UNNAMED }));
    const run = await runProgram(home, ['ask', 'go']);
    expect(run).toMatchObject({ status: 0, stdout: 'Fine.\n' });
    expect(run.stderr).toContain("'m' refused one of the tools mcp__notes__good, mcp__notes__bad, mcp__notes__worse");
    expect(last()).toContain('bash');
  });
});
