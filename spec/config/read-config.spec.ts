import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { type ConfigFile, configSchema } from '../../lib/config/config.js';
import { type ConfigCheck, readConfig } from '../../lib/config/read-config.js';
import { writeConfig } from '../../lib/config/write.js';
import { HiError } from '../../lib/errors.js';

const schema = new Ajv({ allErrors: true, verbose: true, strict: false }).compile<ConfigFile>(
  configSchema({ providers: ['openai', 'ollama'], strategies: ['summary'], options: {} }),
);
const check: ConfigCheck = { accepts: (value): value is ConfigFile => schema(value), explaining: async () => schema };
const newPath = () => join(mkdtempSync(join(tmpdir(), 'hi-config-')), 'config.json');

/** The error of reading this text as config.json. */
async function errorOf(text: string): Promise<{ readonly message: string; readonly hint: string | null }> {
  const path = newPath();
  writeFileSync(path, text, { mode: 0o600 });
  try {
    await readConfig(path, check, false);
  } catch (error) {
    if (error instanceof HiError) return { message: error.message.replaceAll(path, 'FILE'), hint: error.hint };
    throw error;
  }
  throw new Error(`Accepted: ${text}`);
}

const errorsOf = async (config: object): Promise<string> => (await errorOf(JSON.stringify(config))).message;

describe('a file that cannot be read', () => {
  it('is named, with what to check, if the user named it and it is missing', async () => {
    const path = newPath();
    await expect(readConfig(path, check, true)).rejects.toMatchObject({
      code: 'config',
      message: `There is no file '${path}'.`,
      hint: 'Check the path that you gave with --config.',
      cause: expect.objectContaining({ code: 'ENOENT' }),
    });
  });

  it.each([
    ['a folder', 'EISDIR', 'It is a folder; it must be a file.', (path: string) => mkdirSync(path)],
    [
      'a pipe',
      'EFTYPE',
      'It is a pipe or a device; it must be a file.',
      (path: string) => execFileSync('mkfifo', [path]),
    ],
  ])('is %s: the error says so', async (_what, code, hint, make) => {
    const path = newPath();
    make(path);
    await expect(readConfig(path, check, false)).rejects.toMatchObject({
      code: 'config',
      message: `Cannot read '${path}': ${code}.`,
      hint,
      cause: expect.objectContaining({ code }),
    });
  });

  it('is below a file: the error says to check the permissions', async () => {
    const file = newPath();
    writeFileSync(file, '{}');
    await expect(readConfig(join(file, 'config.json'), check, false)).rejects.toMatchObject({
      message: `Cannot read '${join(file, 'config.json')}': ENOTDIR.`,
      hint: 'Check its permissions.',
    });
  });
});

describe('a file that the user names', () => {
  it('may be a pipe, as in process substitution', async () => {
    const path = newPath();
    execFileSync('mkfifo', [path]);
    spawn('sh', ['-c', 'printf \'{"provider":"ollama"}\' > "$0"', path], { stdio: 'ignore' });
    expect((await readConfig(path, check, true)).file).toEqual({ provider: 'ollama' });
  });
});

describe('a file that cannot be parsed', () => {
  const HINT = "Fix the file, or move it away and run 'hi config init'.";

  it('is not JSON: the error gives line and column once', async () => {
    const { message, hint } = await errorOf('{\n  "provider": "openai",\n}');
    expect(message).toMatch(/^FILE is not valid JSON: .*\(?line 3,? column 1\)?/);
    expect(message.match(/line/g)).toHaveLength(1);
    expect(hint).toBe(HINT);
  });

  it('is empty: the error gives no position', async () => {
    expect((await errorOf('')).message).toBe('FILE is not valid JSON: Unexpected end of JSON input');
  });

  it('is nested too deeply', async () => {
    const { message, hint } = await errorOf(`{"tools":${'['.repeat(5000)}${']'.repeat(5000)}}`);
    expect(message).toMatch(/^FILE is nested more than \d+ levels deep\.$/);
    expect(hint).toBe(HINT);
  });
});

describe('a file with values that are allowed', () => {
  it.each([
    { compaction: { archive: 'discard', block_role: 'user' } },
    { thinking: 'high', web: 'auto' },
    {
      tools: {
        enabled: false,
        sandbox: 'network',
        permissions: { allow: ['bash', { rule: 'bash(ls)', write: true }] },
      },
    },
    { skills: { mode: 'matched', matcher: 'llm' }, openai: { api: 'chat' } },
    { api_key: null, preamble: null, max_input_tokens: 256, small_model: null },
  ])('is read unchanged: %j', async (config) => {
    const path = newPath();
    writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
    expect((await readConfig(path, check, false)).file).toEqual(config);
  });
});

describe('a file with values that are not allowed', () => {
  it('has one error, which is listed alone', async () => {
    expect(await errorsOf({ provider: 7 })).toMatch(/^'FILE' has an error:\n {2}\$\.provider: 7 is not one of/);
  });

  it('has a value of another type', async () => {
    expect(await errorsOf({ preamble: 1 })).toContain('$.preamble: 1 is not a string or null');
    expect(await errorsOf({ tools: [] })).toContain('$.tools: [] is not an object');
    expect(await errorsOf({ tools: { enabled: 1 } })).toContain('$.tools.enabled: 1 is not a boolean');
    expect(await errorsOf({ compaction: { trigger_ratio: true } })).toContain('true is not a number');
    expect(await errorsOf({ tools: { permissions: { allow: {} } } })).toContain('{} is not an array');
  });

  it('has a number out of range', async () => {
    expect(await errorsOf({ context_window: 5 })).toContain('$.context_window: 5 must be >= 1024');
  });

  it('has a small model without a name', async () => {
    expect(await errorsOf({ small_model: { provider: 'openai' } })).toContain(
      "$.small_model: 'model' is missing; add it",
    );
  });

  it('has a key like no other: the error lists all keys but that of the schema', async () => {
    const message = await errorsOf({ skills: { xyzzyxyzzy: 1 } });
    expect(message).toContain("$.skills.xyzzyxyzzy: unknown key 'xyzzyxyzzy'; known keys: mode, matcher, top_k");
    expect(await errorsOf({ xyzzyxyzzy: 1 })).not.toContain('$schema');
  });

  it('has a value like no other: the error suggests nothing', async () => {
    expect(await errorsOf({ provider: 'xyzzyxyzzy' })).toMatch(/is not one of "openai", "ollama"$/);
  });

  it('has a long value: it is cut to 80 characters', async () => {
    const shown = async (length: number) =>
      (await errorsOf({ compaction: { keep_recent: 'x'.repeat(length) } })).split('keep_recent: ')[1];
    expect(await shown(78)).toBe(`"${'x'.repeat(78)}" is not an integer`);
    expect(await shown(79)).toBe(`"${'x'.repeat(76)}… is not an integer`);
  });

  it('names the commands that help', async () => {
    expect((await errorOf('{"provider":7}')).hint).toBe(
      "Fix the file, then run 'hi config check'. 'hi config schema' prints the allowed keys and values.",
    );
  });
});

describe('a file that cannot be written', () => {
  it('is named, with the reason', async () => {
    const file = newPath();
    writeFileSync(file, '{}');
    await expect(writeConfig(join(file, 'config.json'), {})).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/^Cannot write '.*config\.json\/config\.json': .+/),
      hint: 'Check the permissions of its folder.',
      cause: expect.anything(),
    });
  });
});
