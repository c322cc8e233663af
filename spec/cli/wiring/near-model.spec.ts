import { expect, it } from '@jest/globals';
import { realWorld } from '../../../lib/cli/base/world.js';
import { Connections } from '../../../lib/cli/wiring/connections.js';
import { DEFAULTS } from '../../../lib/config/built.js';
import { findPaths } from '../../../lib/config/paths.js';
import { textModel } from '../../../lib/session/turn/text-model.js';

async function isNear(provider: string, api_base: string | null): Promise<boolean | undefined> {
  const model = { provider, model: 'm', api_key: null, api_base, context_window: 4096, window_is_set: true };
  const config = { ...model, ...DEFAULTS, options: {}, headers: {}, small_model: null, mcpServers: {}, servers: {} };
  const paths = await findPaths({ HOME: '/nowhere' }, null);
  const settings = { paths, file: null, config, problem: null, empty: null, warnings: [] };
  return textModel(new Connections(realWorld(), {}, settings, config).target(model)).isNear;
}

it.each([
  ['ollama', null, true],
  ['ollama', 'http://192.168.1.7:11434', true],
  ['ollama', 'https://ollama.com', false],
  ['openai', 'http://127.0.0.1:8080/v1', true],
  ['openai', 'http://gpu.local:8000/v1', true],
  ['openai', null, false],
  ['anthropic', null, false],
  ['gemini', 'https://gateway.example.com', false],
] as const)('the writer of %s at %s is near by: %s', async (provider, address, expected) => {
  expect(await isNear(provider, address)).toBe(expected);
});
