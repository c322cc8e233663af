import { afterEach, describe, expect, it } from '@jest/globals';
import type { SkillOverrides } from '../../lib/skills/skill.js';
import { answer, drain, NO_SKILLS, type Stage, type StageChanges, stage } from '../support/session.js';

let set: Stage;

const say = (text: string) => ({ text, texts: [], attachments: [] });
const never = () => new AbortController().signal;

/** Skills that note what the user asked of them with each message. */
function noting(): Required<Pick<StageChanges, 'skills'>> & { readonly asked: SkillOverrides[] } {
  const asked: SkillOverrides[] = [];
  return {
    asked,
    skills: async () => ({
      ...NO_SKILLS,
      async select(_entries, _text, wishes) {
        asked.push(wishes);
        const { pin: pinned, drop: dropped } = wishes;
        const record = { matched: [], active: [], ...(pinned[0] && { pinned }), ...(dropped[0] && { dropped }) };
        return { record, loaded: [], dropped: [] };
      },
    }),
  };
}

afterEach(() => set?.close());

describe('skills that the user loads or drops by hand', () => {
  it('follow the last command', async () => {
    const { asked, skills } = noting();
    set = await stage([answer('fine')], { skills });
    set.session.skills.pin('git');
    set.session.skills.pin('docker');
    set.session.skills.drop('sql');
    set.session.skills.drop('git');
    set.session.skills.pin('sql');
    await drain(set.session.send(say('hello'), never()));
    expect(asked).toEqual([{ pin: ['docker', 'sql'], drop: ['git'] }]);
  });

  it('are set for one message, and for the next one if that turn is undone', async () => {
    const { asked, skills } = noting();
    set = await stage([answer('fine')], { skills });
    set.session.skills.pin('git');
    await drain(set.session.send(say('one'), never()));
    await set.session.undo();
    set.session.skills.drop('sql');
    await drain(set.session.send(say('two'), never()));
    await drain(set.session.send(say('three'), never()));
    expect(asked).toEqual([
      { pin: ['git'], drop: [] },
      { pin: ['git'], drop: ['sql'] },
      { pin: [], drop: [] },
    ]);
  });

  it('are not set again if another turn is undone', async () => {
    const { asked, skills } = noting();
    set = await stage([answer('fine')], { skills });
    set.session.skills.pin('git');
    set.session.skills.drop('sql');
    await drain(set.session.send(say('one'), never()));
    await drain(set.session.send(say('two'), never()));
    await set.session.undo();
    await drain(set.session.send(say('three'), never()));
    expect(asked.slice(1)).toEqual([
      { pin: [], drop: [] },
      { pin: [], drop: [] },
    ]);
  });
});
