import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { listingServer, type VendorAnswer } from '../support/vendor-server.js';

let home: Home;
afterEach(() => home.remove());

async function modelCommand(provider: string, list: VendorAnswer, ...lines: readonly string[]) {
  await using server = await listingServer(list, {});
  home = makeHome({ provider, model: 'mine', api_key: 'k', api_base: `${server.url}/v1`, context_window: 4096 });
  return await runProgram(home, ['chat'], { input: `${lines.join('\n')}\n` });
}

describe('/model at a server without a list of models', () => {
  it.each([
    ['openai', '{"detail":"Not Found"}'],
    ['openai', '<html><h1>404 Not Found</h1></html>'],
    ['anthropic', '{"type":"error","error":{"type":"not_found_error","message":"Not found"}}'],
    ['gemini', '{"error":{"code":404,"message":"Not found","status":"NOT_FOUND"}}'],
    ['ollama', '404 page not found'],
  ])('of %s that answers %s names the model, and says in one line that there is no list', async (provider, body) => {
    const type = body.startsWith('<') ? 'text/html' : 'application/json';
    const list = { status: 404, headers: { 'content-type': type }, chunks: [body] };
    const { stdout, stderr, status } = await modelCommand(provider, list, '/model', '/model other');
    expect(stdout).toContain(`${provider}/mine, window 4096 tokens\n`);
    expect(stdout).toContain(`Switched to ${provider}/other.`);
    expect({ stderr, status }).toEqual({
      stderr: 'The server lists no models; `/model NAME` takes any name.\n',
      status: 0,
    });
  });

  it('says in one line what else went wrong', async () => {
    const list = { status: 401, chunks: ['{"error":{"message":"No such key."}}'] };
    const { stdout, stderr, status } = await modelCommand('openai', list, '/model');
    expect(stdout).toContain('openai/mine, window 4096 tokens\n');
    expect(stderr).toMatch(
      /^The models cannot be listed: The server at '127.0.0.1:\d+' refused the API key from api_key in '.*': No such key\.\n$/,
    );
    expect(status).toBe(0);
  });
});
