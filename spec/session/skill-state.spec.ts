import { afterEach, describe, expect, it } from '@jest/globals';
import type { Target } from '../../lib/session/common/deps.js';
import { SkillState } from '../../lib/session/skill-state.js';
import type { SkillLibrary, SkillOverrides, SkillSelection, SkillWarning } from '../../lib/skills/skill.js';
import { memory } from '../support/memory.js';
import { drain, NO_SKILLS, type Stage, stage } from '../support/session.js';

let set: Stage;
afterEach(() => set?.close());

const target = (model: string): Target => ({
  provider: 'scripted',
  model,
  context_window: 1000,
  memory: memory(),
  connect: async () => {
    throw new Error('Nobody is asked.');
  },
});

const MAIN = target('main');
const SELECTION: SkillSelection = { record: { matched: ['git'], active: ['git'] }, loaded: ['git'], dropped: [] };

/** The skills of a session over a real history, what they were opened for, and what was asked of them. */
async function skillState(more: Partial<SkillLibrary> = {}) {
  set = await stage([]);
  const opened: string[] = [];
  const selected: { readonly text: string; readonly overrides: SkillOverrides }[] = [];
  const answering = { target: MAIN };
  const find = async ({ model }: Target): Promise<SkillLibrary> => {
    opened.push(model);
    return {
      ...NO_SKILLS,
      async select(_entries, text, overrides) {
        selected.push({ text, overrides });
        return SELECTION;
      },
      explain: async (name, entries, overrides) => `${name} ${entries.length} ${JSON.stringify(overrides)}`,
      ...more,
    };
  };
  const state = new SkillState(set.history, { find }, () => answering.target);
  return { state, answering, opened, selected };
}

/** What choosing yields, and what it returns. */
async function choose(state: SkillState, text = 'hello') {
  let selection: SkillSelection | null = null;
  const choosing = state.choose(text, new AbortController().signal);
  const events = await drain(
    (async function* () {
      selection = yield* choosing;
    })(),
  );
  return { events, selection };
}

describe('the skills of a session', () => {
  it('are read once for each model', async () => {
    const { state, answering, opened } = await skillState();
    const [first, second] = [state.library(), state.library()];
    expect(first).toBe(second);
    answering.target = target('other');
    await state.library();
    answering.target = MAIN;
    await state.library();
    expect(opened).toEqual(['main', 'other', 'main']);
  });

  it('are chosen by the words of a message', async () => {
    const { state, selected } = await skillState();
    expect(await choose(state, 'rebase')).toEqual({ events: [], selection: SELECTION });
    expect(selected).toEqual([{ text: 'rebase', overrides: { pin: [], drop: [] } }]);
  });

  it('report that choosing takes a while if a model is called', async () => {
    const { state } = await skillState({ asks: true });
    expect((await choose(state)).events).toEqual([{ type: 'waiting', what: 'choosing skills' }]);
  });

  it('report each warning once, even one that comes later', async () => {
    const warnings: SkillWarning[] = [{ path: '/s/a.md', reason: 'is empty; left out' }];
    const { state } = await skillState({ warnings });
    const notice = (text: string) => ({ type: 'notice', level: 'info', text });
    expect((await choose(state)).events).toEqual([notice('skill /s/a.md: is empty; left out')]);
    expect((await choose(state)).events).toEqual([]);
    warnings.push({ path: '/s/b.md', reason: 'can no longer be read (ENOENT)' });
    expect((await choose(state)).events).toEqual([notice('skill /s/b.md: can no longer be read (ENOENT)')]);
  });
});

describe('skills loaded and dropped by hand', () => {
  it('are sent with the next message and listed by explanations, until they are recorded', async () => {
    const { state, selected } = await skillState();
    state.pin('git');
    state.drop('sql');
    const overrides = { pin: ['git'], drop: ['sql'] };
    expect(await state.explain('git')).toBe(`git 0 ${JSON.stringify(overrides)}`);
    await choose(state);
    state.recorded();
    await choose(state);
    expect(selected.map((each) => each.overrides)).toEqual([overrides, { pin: [], drop: [] }]);
  });

  it('come back when the turn that recorded them is undone, but do not override later ones', async () => {
    const { state, selected } = await skillState();
    const skills = { matched: [], active: ['git'], pinned: ['git', 'go'], dropped: ['sql'] };
    const message = { role: 'user', content: [{ type: 'text', text: 'hello' }], cwd: '/', skills } as const;
    const turn = await set.history.begin(message);
    state.pin('sql');
    state.drop('go');
    state.takeBack(turn.id);
    await choose(state);
    expect(selected[0]?.overrides).toEqual({ pin: ['git', 'sql'], drop: ['go'] });
    expect(state.active).toEqual(['git']);
  });
});
