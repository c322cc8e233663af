import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { openVendorHouse, type VendorHouse, type VendorName } from '../support/vendor-house.js';

let home: Home;
let house: VendorHouse;

afterEach(async () => {
  await house.close();
  home.remove();
});

/** The vendor's own variables: its key's, and its address's. */
const VARIABLES: readonly (readonly [VendorName, string | null, string])[] = [
  ['openai', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'],
  ['anthropic', 'ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'],
  ['gemini', 'GEMINI_API_KEY', 'GOOGLE_GEMINI_BASE_URL'],
  ['gemini', 'GOOGLE_API_KEY', 'GOOGLE_GEMINI_BASE_URL'],
  ['ollama', null, 'OLLAMA_HOST'],
];

describe('without a configuration', () => {
  it.each(VARIABLES)('hi ask works with %s when %s is set', async (vendor, key, base) => {
    house = await openVendorHouse(vendor, { text: 'It simply works.', ...(key === null ? {} : { key: 'the-key' }) });
    home = makeHome(null);
    const env = { [base]: house.base, ...(key === null ? {} : { [key]: 'the-key' }) };
    expect(await runProgram(home, ['ask', 'hello'], { env })).toEqual({
      status: 0,
      stdout: 'It simply works.',
      stderr: '',
    });
    const piped = await runProgram(home, [], { env, input: 'hello from a pipe' });
    expect(piped).toMatchObject({ status: 0, stdout: 'It simply works.' });
    const told = JSON.parse((await runProgram(home, ['ask', '--json', 'x'], { env })).stdout);
    expect(told).toMatchObject({ provider: vendor });
    expect(existsSync(home.configFile)).toBe(false);
  });
});
