import { describe, expect, it } from '@jest/globals';
import { withResultType } from '../../lib/mcp/connection/client-adapter.js';

/** What arrives of a message, in one form of the protocol. */
function arrived(message: object, isNewer: boolean): unknown {
  const transport: { onmessage?: (message: object) => void } = {};
  const taken: unknown[] = [];
  withResultType(transport, () => isNewer);
  transport.onmessage = (one) => taken.push(one);
  transport.onmessage(message);
  return taken[0];
}

describe('a result without a type', () => {
  const plain = { jsonrpc: '2.0', id: 1, result: { content: [] } };

  it('is a complete one in the newer version of the protocol', () => {
    expect(arrived(plain, true)).toEqual({ ...plain, result: { content: [], resultType: 'complete' } });
  });

  it.each([
    ['in the older form', plain, false],
    ['where it says it', { ...plain, result: { resultType: 'input_required' } }, true],
    ['in an error', { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'no' } }, true],
    ['in a request', { jsonrpc: '2.0', id: 1, method: 'ping' }, true],
  ])('is unchanged %s', (_, message, isNewer) => {
    expect(arrived(message, isNewer)).toEqual(message);
  });
});
