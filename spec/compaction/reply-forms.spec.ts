import { describe, expect, it } from '@jest/globals';
import { asTokens } from '../../lib/chat/request.js';
import { readReply } from '../../lib/compaction/prompt.js';

const read = (text: string) => readReply({ text, stop_reason: 'end' }, asTokens(100));

describe('a reply of a gateway instead of a model', () => {
  it.each([
    '500 internal server error',
    '503 Service Unavailable',
    'Internal server error: 500',
    'API error (overloaded)',
    'server error 502',
    'error: timeout',
  ])('is not a summary: %s', (text) => {
    expect(() => read(text)).toThrow(text.slice(0, 20));
  });

  it.each(['5000 users came.', 'The error was found.', 'http is in use', 'errors: none'])('may look so: %s', (text) => {
    expect(read(text).prose).toBe(text);
  });
});

describe('a fact in a reply', () => {
  it.each(['- fact: the port', '  2) Fact : the port', '* **fact** : the port', '"fact: the port"', 'fact：the port'])(
    'is read from %j',
    (line) => {
      expect(read(`They met.\n=== NEW FACTS ===\n${line}`).added).toEqual([{ kind: 'fact', text: 'the port' }]);
    },
  );

  it.each(['fact the port', '- rumour: the port', '- fact:', 'a fact: the port', 'fact!: the port'])(
    'is none in %j',
    (line) => {
      expect(read(`They met.\n=== NEW FACTS ===\n${line}`).added).toEqual([]);
    },
  );
});
