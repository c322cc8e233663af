import { describe, expect, it } from '@jest/globals';
import { estimateTokens } from '../../../lib/chat/request.js';
import { type OverheadSource, requestOverhead, toolTokens } from '../../../lib/session/context/request-overhead.js';
import type { SkillLibrary } from '../../../lib/skills/skill.js';
import { NO_SKILLS } from '../../support/session.js';

const signal = new AbortController().signal;
const tool = (name: string) => ({ name, description: `${name}s.`, parameters: { type: 'object' } });
const SOURCE: OverheadSource = {
  ...{ preamble: null, standing: { text: null, warning: null }, tools: [], toolEffects: {}, skills: NO_SKILLS },
};

describe('the fixed part of a request', () => {
  it('is the preamble, the memory and the skills, in that order, and empty if there is none', async () => {
    const asked: unknown[] = [];
    const texts: SkillLibrary['texts'] = async (names, options) => {
      asked.push([names, options]);
      return ['skill one', 'skill two'];
    };
    const skills = { ...NO_SKILLS, texts };
    const toolEffects = { look: { kind: 'read', argument: 'path' }, run: { kind: 'command' } } as const;
    const whole = {
      ...{ preamble: 'Be kind.', standing: { text: 'They like tea.', warning: null }, skills, toolEffects },
      tools: [tool('run'), tool('look')],
    };
    const { system, tokens } = await requestOverhead({ ...SOURCE, ...whole }, ['git'], 'whole', signal);
    expect(system).toEqual(['Be kind.', 'They like tea.', 'skill one', 'skill two']);
    expect(tokens).toBe(estimateTokens(system.join('').length) + toolTokens(whole.tools));
    expect(asked).toEqual([[['git'], { form: 'whole', reader: 'look' }]]);
    await requestOverhead({ ...SOURCE, ...whole, tools: [tool('run')] }, ['git'], 'whole', signal);
    expect(asked[1]).toEqual([['git'], { form: 'whole', reader: null }]);
    await requestOverhead({ ...SOURCE, ...whole }, [], 'whole', signal);
    expect(asked).toHaveLength(2);
    expect(await requestOverhead(SOURCE, [], 'whole', signal)).toEqual({ system: [], tokens: 0 });
    const schema = { schema: { type: 'object' }, needsTools: false };
    const held = await requestOverhead({ ...SOURCE, schema }, [], 'whole', signal);
    expect(held).toEqual({ system: [], tokens: estimateTokens(JSON.stringify(schema).length) });
  });
});
