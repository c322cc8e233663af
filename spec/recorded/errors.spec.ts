import { describe, expect, it } from '@jest/globals';
import { type ErrorCode, EXIT_STATUS, HiError } from '../../lib/errors.js';
import { adapter, ask, chatRequest, type Outcome } from '../support/providers.js';
import { ALL_RECORDINGS, type Recording, replaying, withRecordings } from './recordings.js';

/** What each kind of recorded failure is, by the words of its name. */
const KINDS: readonly (readonly [
  RegExp,
  ErrorCode,
  { readonly retryable: boolean; readonly retryAfter?: number | null },
])[] = [
  [/err-401|err-400-key|401-deepseek/, 'key', { retryable: false }],
  [/err-40[04]-model/, 'model', { retryable: false }],
  [/err-context|400-context/, 'window', { retryable: false }],
  [/openai-err-429-tokens/, 'rate', { retryable: true, retryAfter: 1574 }],
  [/anthropic-err-429/, 'rate', { retryable: true, retryAfter: 1000 }],
  [/google-err-429/, 'rate', { retryable: true, retryAfter: 48_000 }],
  [/err-429-openrouter/, 'rate', { retryable: true, retryAfter: null }],
  [
    /err-529|err-503|instream-first|instream-503|err-500|instream-server|ollama-err-instream/,
    'overload',
    { retryable: true },
  ],
  [/instream-quota/, 'quota', { retryable: false }],
  [/instream-error-groq/, 'malformed', { retryable: true }],
  [/err-400/, 'request', { retryable: false }],
];

const failures = ALL_RECORDINGS.filter(
  ({ expect: { error }, id }) => error !== undefined && !id.includes('length-comments'),
);

withRecordings(() => {
  it.each(failures.map((recording) => [recording.id, recording] as const))(
    '%s is told by its kind',
    async (id, recording) => {
      const [, code, more] = KINDS.find(([pattern]) => pattern.test(id)) ?? [];
      const { error } = await replayed(recording);
      expect(error).toBeInstanceOf(HiError);
      expect(error).toMatchObject({ code, ...more });
      if (!(error instanceof HiError)) return;
      expect(error.message).toMatch(/^[A-Z].*[.!?]\)?$/s);
      expect(error.hint).toMatch(/[.)]$/);
      expect(EXIT_STATUS[error.code]).toBe(code === 'key' ? 4 : code === 'window' ? 6 : 5);
    },
  );

  describe('a refused key', () => {
    it.each(failures.filter(({ id }) => /401|400-key/.test(id)).map((recording) => [recording.id, recording] as const))(
      'is not repeated to the reader (%s)',
      async (_, recording) => {
        const { error } = await replayed(recording, 'invalid-key');
        if (!(error instanceof HiError)) throw new Error('There is no error.');
        expect(`${error.message} ${error.hint} ${JSON.stringify(error.cause)} ${String(error.cause)}`).not.toContain(
          'invalid-key',
        );
      },
    );
  });
});

async function replayed(recording: Recording, apiKey = 'sk-0123456789'): Promise<Outcome> {
  return replaying({ recordings: [recording] }, recording, async (base) => {
    const api = recording.api === 'responses' ? 'responses' : 'auto';
    const provider = await adapter(recording.provider, base, { options: { api }, apiKey });
    return ask(provider, chatRequest({ model: 'some-model' }));
  });
}
