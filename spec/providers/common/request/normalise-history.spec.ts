import { describe, expect, it } from '@jest/globals';
import type { ChatRequest } from '../../../../lib/chat/request.js';
import { adapter, ask, chatRequest } from '../../../support/providers.js';
import { broken, protocolOf } from '../../../support/vendor-rules.js';
import { vendorServer } from '../../../support/vendor-server.js';
import { type Dialect, dialects } from '../../../support/vendors.js';

const CALLS = [
  { name: 'list_files', args: { path: '.' } },
  { name: 'read_file', args: { path: 'a.txt' } },
];
const tools = CALLS.map(({ name }) => ({ name, description: 'Looks.', parameters: { type: 'object' } }));
const SIGNED = /SIGNED|U0lHTkVE/;
const OWN_MARKS =
  /SIGNED|U0lHTkVE|"(?:signature|thoughtSignature|encrypted_content|reasoning_content|reasoning_details)":(?!"skip_)|rs_1|msg_1|fc_0/;

const pairs = dialects.flatMap((from) => dialects.map((to) => [from.title, to.title, from, to] as const));
const foreign = pairs.filter(([, , from, to]) => from.provider !== to.provider);

describe.each(foreign)('a conversation begun on %s and continued on %s', (_from, _to, from, to) => {
  it('keeps words, calls and results after a tool turn with thinking', async () => {
    const messages = await toolTurn(from, 'begun-model');
    const { sent, outcome } = await asked(
      to,
      chatRequest({ model: 'other-model', messages: [...messages, user('And now?')] }),
    );
    const text = JSON.stringify(sent);
    expect(outcome.text).toBe('Fine.');
    expect(broken(protocolOf(pathOf(to)), sent)).toEqual([]);
    for (const word of [
      'Let me look.',
      'list_files',
      'read_file',
      'a.txt',
      'first result',
      'second result',
      'And now?',
    ]) {
      expect(text).toContain(word);
    }
  });

  it('leaves out what only the first one understands', async () => {
    const messages = await toolTurn(from, 'begun-model');
    const { sent } = await asked(to, chatRequest({ model: 'other-model', messages: [...messages, user('And now?')] }));
    expect(JSON.stringify(sent)).not.toMatch(OWN_MARKS);
    expect(JSON.stringify(sent)).not.toContain('Hm.');
  });

  it('may switch in the middle of a tool turn', async () => {
    const messages = await toolTurn(from, 'begun-model');
    const { sent, outcome } = await asked(to, chatRequest({ model: 'other-model', messages, thinking: 'low' }));
    expect(outcome.text).toBe('Fine.');
    expect(broken(protocolOf(pathOf(to)), sent)).toEqual([]);
  });
});

describe.each(dialects.map((dialect) => [dialect.title, dialect] as const))('on %s', (_, dialect) => {
  const signs = dialect.title !== 'Ollama' && dialect.title !== 'OpenAI Chat Completions';

  if (signs) {
    it('signed content is sent back to the model that signed it', async () => {
      const messages = await toolTurn(dialect, 'same-model');
      const { sent } = await asked(dialect, chatRequest({ model: 'same-model', messages, tools }));
      expect(JSON.stringify(sent)).toMatch(SIGNED);
      expect(broken(protocolOf(pathOf(dialect)), sent)).toEqual([]);
    });
  }

  it('no signed content is sent to another model of the same vendor', async () => {
    const messages = await toolTurn(dialect, 'one-model');
    const { sent } = await asked(dialect, chatRequest({ model: 'other-model', messages }));
    expect(JSON.stringify(sent)).not.toMatch(OWN_MARKS);
    expect(broken(protocolOf(pathOf(dialect)), sent)).toEqual([]);
  });

  it('interrupted and empty answers do no harm', async () => {
    const messages: ChatRequest['messages'] = [
      user('One'),
      { role: 'assistant', content: [], provider: dialect.provider, model: 'test-model' },
      user('Two'),
      {
        role: 'assistant',
        content: [{ type: 'thinking', text: 'Half a thou' }],
        provider: dialect.provider,
        model: 'test-model',
      },
      { role: 'assistant', content: [{ type: 'text', text: '' }], provider: dialect.provider, model: 'test-model' },
      user('Three'),
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'Half an answ' }],
        provider: dialect.provider,
        model: 'test-model',
      },
      user('Four'),
    ];
    const { sent, outcome } = await asked(dialect, chatRequest({ messages }));
    expect(outcome.text).toBe('Fine.');
    expect(broken(protocolOf(pathOf(dialect)), sent)).toEqual([]);
    expect(JSON.stringify(sent)).toContain('Half an answ');
    expect(JSON.stringify(sent)).not.toContain('""');
  });

  it('invalid tool names that a model invented are replaced by valid ones', async () => {
    const messages: ChatRequest['messages'] = [
      user('Run it'),
      { role: 'assistant', content: [{ type: 'tool_call', call_id: 'call_y', name: 'functions.bash:0', args: {} }] },
      {
        role: 'tool',
        content: [{ type: 'tool_result', call_id: 'call_y', name: 'functions.bash:0', error: 'No such tool.' }],
      },
    ];
    const { sent } = await asked(dialect, chatRequest({ messages }));
    expect(broken(protocolOf(pathOf(dialect)), sent)).toEqual([]);
    expect(JSON.stringify(sent)).toContain('"functions_bash_0"');
    expect(JSON.stringify(sent)).not.toContain('functions.bash');
  });

  it('lone surrogates are replaced wherever they are', async () => {
    const messages: ChatRequest['messages'] = [
      user('cut \ud83d here'),
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'half \ude00' },
          { type: 'tool_call', call_id: 'call_x', name: 'bash', args: { command: 'echo \ud83d' } },
        ],
      },
      {
        role: 'tool',
        content: [{ type: 'tool_result', call_id: 'call_x', name: 'bash', result: { stdout: '\ud83d' } }],
      },
    ];
    const { sent } = await asked(dialect, chatRequest({ messages, system: ['a \ud83d b'] }));
    expect(broken(protocolOf(pathOf(dialect)), sent)).toEqual([]);
    expect(JSON.stringify(sent)).toContain('cut \ufffd here');
  });
});

/** A user's question, an answer of that vendor with thinking and two calls, as it gave it, and their results. */
async function toolTurn(dialect: Dialect, model: string): Promise<ChatRequest['messages']> {
  await using server = await vendorServer(dialect.tools(...CALLS));
  const provider = await adapter(dialect.provider, server.url + dialect.path, dialect.settings);
  const question = user('What is there?');
  const { parts } = await ask(provider, chatRequest({ model, tools, messages: [question] }));
  const calls = parts.filter((part) => part.type === 'tool_call');
  return [
    question,
    JSON.parse(JSON.stringify({ role: 'assistant', content: parts, provider: dialect.provider, model })),
    {
      role: 'tool',
      content: calls.map(({ call_id, name }, at) => ({
        type: 'tool_result',
        call_id,
        name,
        result: { content: at === 0 ? 'first result' : 'second result' },
      })),
    },
  ];
}

async function asked(dialect: Dialect, request: ChatRequest) {
  await using server = await vendorServer(dialect.text('Fine.'));
  const provider = await adapter(dialect.provider, server.url + dialect.path, dialect.settings);
  const outcome = await ask(provider, request);
  return { outcome, sent: server.requests[0]?.body ?? {} };
}

function user(text: string): ChatRequest['messages'][number] {
  return { role: 'user', content: [{ type: 'text', text }] };
}

function pathOf({ title }: Dialect): string {
  if (title === 'OpenAI Chat Completions') return '/v1/chat/completions';
  if (title === 'OpenAI Responses') return '/v1/responses';
  if (title === 'Anthropic') return '/v1/messages';
  return title === 'Ollama' ? '/api/chat' : '/v1beta/models/x:streamGenerateContent';
}
