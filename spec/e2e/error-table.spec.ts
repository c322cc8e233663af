import { afterEach, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { chatServer, refusal } from '../support/vendor-server.js';

let home: Home;
afterEach(() => home.remove());

/** What a server says, and what comes of it: the exit status, how many requests, what is said and what to do. */
interface Row {
  readonly name: string;
  readonly provider?: string;
  readonly status: number;
  readonly body: JsonObject;
  readonly exit: number;
  /** Of which the later ones leave something out. */
  readonly requests: number;
  readonly said: string;
  readonly hint: string;
}

const error = (message: string, more: JsonObject = {}): JsonObject => ({ error: { message, ...more } });
const claude = (type: string, message: string): JsonObject => ({ type: 'error', error: { type, message } });
const QUOTA = 'Check the plan and billing of the account';
const TOO_LARGE = 'Shorten the message or its attachments';

const ROWS: readonly Row[] = [
  {
    name: 'llama.cpp without --jinja',
    status: 500,
    body: error('tools param requires --jinja flag', { type: 'server_error', code: 500 }),
    exit: 5,
    requests: 3,
    said: 'did not accept the request',
    hint: 'Turn tools off (--no-tools)',
  },
  {
    name: 'vLLM without its flags',
    status: 400,
    body: error('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    exit: 5,
    requests: 3,
    said: 'did not accept the request',
    hint: 'Turn tools off (--no-tools)',
  },
  {
    name: 'OpenRouter, no endpoint with tools',
    status: 404,
    body: error('No endpoints found that support tool use', { code: 404 }),
    exit: 5,
    requests: 3,
    said: 'did not accept the request',
    hint: 'Turn tools off (--no-tools)',
  },
  {
    name: 'llama.cpp without vision',
    status: 500,
    body: error('image input is not supported - hint: if this is unexpected, you may need to provide the mmproj'),
    exit: 5,
    requests: 2,
    said: 'did not accept the request',
    hint: 'Use a model with vision',
  },
  {
    name: 'a wrong key of xAI',
    status: 400,
    body: { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***ab.' },
    exit: 4,
    requests: 1,
    said: 'refused the API key',
    hint: 'Set api_key in ',
  },
  {
    name: 'a deployment that Azure does not have',
    status: 404,
    body: error('The API deployment for this resource does not exist.', { code: 'DeploymentNotFound' }),
    exit: 5,
    requests: 1,
    said: "has no model 'm'",
    hint: 'Choose another with /model or -m',
  },
  {
    name: 'a model that DeepSeek does not have',
    status: 400,
    body: error('The supported API model names are deepseek-v4-pro or deepseek-v4-flash, but you passed m.'),
    exit: 5,
    requests: 1,
    said: 'deepseek-v4-pro or deepseek-v4-flash',
    hint: 'Choose another with /model or -m',
  },
  {
    name: 'no credit at Anthropic',
    provider: 'anthropic',
    status: 400,
    body: claude('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
    exit: 5,
    requests: 1,
    said: 'The quota at Anthropic is used up',
    hint: QUOTA,
  },
  {
    name: 'a limit that the user set at Anthropic',
    provider: 'anthropic',
    status: 400,
    body: claude('invalid_request_error', 'You have reached your specified API usage limits.'),
    exit: 5,
    requests: 1,
    said: 'The quota at Anthropic is used up',
    hint: QUOTA,
  },
  {
    name: 'a budget of LiteLLM',
    status: 400,
    body: error('Budget has been exceeded! Current cost: 10.1, Max budget: 10.0', {
      type: 'budget_exceeded',
      code: '400',
    }),
    exit: 5,
    requests: 1,
    said: 'Budget has been exceeded! Current cost: 10.1',
    hint: QUOTA,
  },
  {
    name: 'a week of Ollama Cloud',
    provider: 'ollama',
    status: 429,
    body: { error: 'you have reached your weekly usage limit, upgrade for higher limits' },
    exit: 5,
    requests: 1,
    said: 'The quota at Ollama is used up',
    hint: QUOTA,
  },
  {
    name: 'a long context that costs extra',
    provider: 'anthropic',
    status: 429,
    body: claude('rate_limit_error', 'Extra usage is required for long context requests.'),
    exit: 6,
    requests: 1,
    said: 'Extra usage is required',
    hint: TOO_LARGE,
  },
  {
    name: 'too little memory for Ollama',
    provider: 'ollama',
    status: 500,
    body: { error: 'model requires more system memory (18.1 GiB) than is available (11.9 GiB)' },
    exit: 5,
    requests: 1,
    said: '(18.1 GiB)',
    hint: 'Set a smaller context_window, or use a smaller model.',
  },
  {
    name: 'an overflow of llama.cpp, whose number is kept',
    status: 400,
    body: error('request (579 tokens) exceeds the available context size (512 tokens), try increasing it', {
      n_ctx: 512,
    }),
    exit: 6,
    requests: 1,
    said: 'the available context size (512 tokens)',
    hint: TOO_LARGE,
  },
  {
    name: 'an overflow of Perplexity',
    status: 400,
    body: error('The total length of all messages is too long.', { type: 'too_many_prompt_tokens', code: 400 }),
    exit: 6,
    requests: 1,
    said: 'The total length of all messages is too long.',
    hint: TOO_LARGE,
  },
  {
    name: 'a request that no minute of OpenAI has room for',
    status: 429,
    body: error('Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 35000.', {
      code: 'rate_limit_exceeded',
    }),
    exit: 6,
    requests: 1,
    said: 'Limit 30000, Requested 35000',
    hint: TOO_LARGE,
  },
  {
    name: 'a country without Gemini',
    provider: 'gemini',
    status: 400,
    body: error('User location is not supported for the API use.', { code: 400, status: 'FAILED_PRECONDITION' }),
    exit: 5,
    requests: 1,
    said: 'User location is not supported',
    hint: 'a network in a supported region',
  },
  {
    name: 'a prompt that OpenAI flags',
    status: 400,
    body: error('Invalid prompt: your prompt was flagged as potentially violating our usage policy.', {
      code: 'invalid_prompt',
    }),
    exit: 5,
    requests: 1,
    said: 'refused the content',
    hint: '/undo takes back the previous turn',
  },
  {
    name: 'a limit of the bytes of a request',
    status: 413,
    body: error('Request Entity Too Large'),
    exit: 6,
    requests: 1,
    said: 'does not accept a request of this size: Request Entity Too Large.',
    hint: 'client_max_body_size',
  },
  {
    name: 'a 404 that is about something else than the path',
    status: 404,
    body: error('The deployment is paused. Resume it in the console.'),
    exit: 5,
    requests: 2,
    said: 'did not accept the request: The deployment is paused.',
    hint: 'Use another model, or run again with --debug',
  },
  {
    name: 'a model that LiteLLM does not have',
    status: 400,
    body: error('Invalid model name passed in model=m. Call `/v1/models` to view available models for your key.', {
      param: 'None',
    }),
    exit: 5,
    requests: 1,
    said: "has no model 'm'",
    hint: 'Choose another with /model or -m',
  },
  {
    name: 'a path at which there is nothing (FastAPI)',
    status: 404,
    body: { detail: 'Not Found' },
    exit: 5,
    requests: 2,
    said: 'Not Found.',
    hint: "If other models answer, there is no 'm': choose another with /model or -m.",
  },
  {
    name: 'a path at which there is nothing (llama.cpp)',
    status: 404,
    body: error('File Not Found', { type: 'not_found_error', code: 404 }),
    exit: 5,
    requests: 2,
    said: 'File Not Found.',
    hint: 'Nothing answers at this path: check api_base',
  },
  {
    name: 'a call that Groq cannot read',
    status: 400,
    body: error('Failed to call a function. Please adjust your prompt.', { code: 'tool_use_failed' }),
    exit: 5,
    requests: 2,
    said: 'The model misused a tool',
    hint: 'Try again (/retry in hi chat)',
  },
];

it.each(ROWS.map((row) => [row.name, row] as const))('%s', async (_name, row) => {
  const { provider = 'openai', status, body, exit, requests, said, hint } = row;
  await using server = await chatServer(refusal(status, body, { 'x-should-retry': 'false' }));
  const path = provider === 'openai' ? '/v1' : '';
  home = makeHome({ provider, model: 'm', api_key: 'the-key', api_base: `${server.url}${path}` });
  const run = await runProgram(home, ['ask', 'x']);
  expect(run.stderr).toContain(said);
  expect(run.stderr.split('\n    ').at(-1)).toContain(hint);
  expect([run.status, run.stdout, server.requests.filter(({ path: at }) => at !== '/api/ps').length]).toEqual([
    exit,
    '',
    requests,
  ]);
});

it('names the key that was refused by its source, and says to change that one', async () => {
  await using server = await chatServer(refusal(401, error('Incorrect API key provided.')));
  const asked = async (api_key: string | undefined, env: Readonly<Record<string, string>>) => {
    home = makeHome({ provider: 'openai', model: 'm', api_base: `${server.url}/v1`, ...(api_key && { api_key }) });
    const run = await runProgram(home, ['ask', 'x'], { env });
    expect(run.status).toBe(4);
    const { folder } = home;
    home.remove();
    return run.stderr.replaceAll(`'${folder}`, "'");
  };
  const OPENAI_API_KEY = 'sk-of-the-variable';
  const config =
    /refused the API key from api_key in '.*config\.json': Incorrect API key provided\.\n {4}Set api_key in '.*config\.json' to a valid key/;
  expect(await asked('sk-of-the-file', { OPENAI_API_KEY })).toMatch(config);
  expect(await asked(undefined, { OPENAI_API_KEY })).toMatch(
    /from OPENAI_API_KEY: .*\n {4}Set OPENAI_API_KEY to a valid key/,
  );
  expect(await asked('sk-of-the-file', { OPENAI_API_KEY, HI_API_KEY: 'sk-own' })).toMatch(/from HI_API_KEY: /);
  expect(await asked('!printf sk-%s printed', {})).toMatch(
    /from the command 'printf sk-%s printed' \(api_key in '[^\n]*\n {4}Let the command 'printf sk-%s printed'/,
  );
});

it('says of a key that is known but not allowed that access is denied', async () => {
  await using server = await chatServer(refusal(403, error('Your account is not active.')));
  home = makeHome({ provider: 'openai', model: 'm', api_base: `${server.url}/v1`, api_key: 'sk-1' });
  const run = await runProgram(home, ['ask', 'x']);
  expect(run.status).toBe(4);
  expect(run.stderr).toMatch(/denied access: Your account is not active\.\n {4}Fix this in the account/);
});

it('takes a key of blanks for none', async () => {
  home = makeHome({ provider: 'openai', api_key: '  ' });
  const run = await runProgram(home, ['ask', 'x'], { env: { OPENAI_API_KEY: ' ' } });
  expect(run).toMatchObject({ status: 3, stdout: '' });
  expect(run.stderr).toContain('There is no API key for OpenAI.');
});
