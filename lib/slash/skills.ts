import type { SlashCommand } from './command.js';

/** `/skills`: the skills found; with a name, its text and why it is in or out. */
export const slashSkills: SlashCommand = {
  name: 'skills',
  usage: '/skills [name]',
  summary: 'list the skills, or show one and why it is in or out',
  isOnCommandLine: true,
  complete: async (typed, { session }) =>
    (await session.skills()).skills.map(({ name }) => name).filter((name) => name.startsWith(typed)),
  async *run(argument, { session }) {
    if (argument !== '') return yield { type: 'print', text: await session.explainSkill(argument) };
    const library = await session.skills();
    const active = session.activeSkills;
    const width = library.skills.reduce((widest, { name }) => Math.max(widest, name.length), 0);
    for (const { name, description } of library.skills) {
      yield { type: 'print', text: `${active.includes(name) ? '+' : ' '} ${name.padEnd(width)}  ${description}` };
    }
    for (const { path, reason } of library.warnings)
      yield { type: 'notice', level: 'warning', text: `skill ${path}: ${reason}` };
    if (library.skills.length === 0) yield { type: 'print', text: 'There are no skills.' };
  },
};
