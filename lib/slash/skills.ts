import type { SlashCommand } from './common/command.js';
import { columns } from './common/shown.js';

/** `/skills`: lists the skills found; with a name, shows its text and why it is sent or not. */
export const slashSkills: SlashCommand = {
  name: 'skills',
  usage: '/skills [name]',
  summary: 'list the skills, or show one and why it is sent or not',
  isOnCommandLine: true,
  complete: async (typed, { session }) =>
    (await session.skills.library()).skills.map(({ name }) => name).filter((name) => name.startsWith(typed)),
  async *run(argument, { session }) {
    if (argument !== '') return yield { type: 'print', text: await session.skills.explain(argument) };
    const { skills, absence, warnings } = await session.skills.library();
    const active = session.skills.active;
    const rows = skills.map(
      ({ name, description }) => [`${active.includes(name) ? '+' : ' '} ${name}`, description] as const,
    );
    yield { type: 'print', text: absence ?? columns(rows) };
    for (const { path, reason } of warnings)
      yield { type: 'notice', level: 'warning', text: `skill ${path}: ${reason}` };
  },
};
