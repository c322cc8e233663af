import { describe, expect, it } from '@jest/globals';
import type { Message } from '../../../lib/chat/message.js';
import type { ChatRequest } from '../../../lib/chat/request.js';
import { type Refused, RequestRefusal } from '../../../lib/providers/common/provider.js';
import { learnLate } from '../../../lib/session/refusals/adapt-request.js';
import { memory } from '../../support/memory.js';
import { chatRequest } from '../../support/providers.js';

const image = { type: 'image', mime: 'image/png', sha256: 'a'.repeat(64), bytes: 1 } as const;
const shown: Message = { id: 1, turn: 1, at: '2026-01-01T00:00:00Z', cwd: '/', role: 'user', content: [image] };
const spec = (name: string) => ({ name, description: 'Does.', parameters: { type: 'object' } });
const request = (more: Partial<ChatRequest> = {}): ChatRequest => ({ ...chatRequest(), model: 'm', ...more });
const refusal = (refused: Refused, said = 'No.') => new RequestRefusal('request', said, { refused, said, param: null });

describe('a refusal that comes too late to send the request again', () => {
  it('is remembered by what it names', () => {
    const known = memory();
    const images = refusal({ what: 'features', features: ['images'] });
    expect(learnLate(request({ messages: [shown] }), images, known)).toContain("'m' does not support images");
    expect(known.facts.takes).toEqual({ images: false });
  });

  it('is remembered by the tool definition that is not accepted', () => {
    const known = memory();
    const tools = [spec('bash'), spec('mcp__a__b')];
    const said = 'Invalid schema for function mcp__a__b: in context properties.';
    expect(learnLate(request({ tools }), refusal({ what: 'unsaid', isCertain: true }, said), known)).toContain(
      "'m' refused the tool mcp__a__b: it is left out.",
    );
    expect(Object.keys(known.facts.takes ?? {})).toEqual([expect.stringMatching(/^tool mcp__a__b /)]);
  });

  it('is remembered by the schema that is not accepted', () => {
    const known = memory();
    learnLate(request({ schema: { schema: {}, needsTools: false } }), refusal({ what: 'schema' }), known);
    expect(Object.keys(known.facts.takes ?? {}).join()).toMatch(/^schema \w{16}$/);
  });

  it.each<readonly [string, Partial<ChatRequest>, Refused]>([
    ['names nothing', { messages: [shown] }, { what: 'unsaid', isCertain: true }],
    ['names what was not sent', {}, { what: 'features', features: ['images'] }],
  ])('is not remembered if it %s', (_, more, refused) => {
    const known = memory();
    expect(learnLate(request(more), refusal(refused), known)).toBeNull();
    expect(known.facts).toEqual({});
  });
});
