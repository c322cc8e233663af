import { HiError } from '../errors.js';
import { pick } from '../registry.js';
import type { SlashCommand } from './common/command.js';

/** `/skill NAME` loads a skill with the next message and keeps it; `/skill -NAME` drops it. */
export const slashSkill: SlashCommand = {
  name: 'skill',
  usage: '/skill [-]NAME',
  summary: 'load a skill by hand, or drop it with -NAME',
  complete: async (typed, { session }) => {
    const sign = typed.startsWith('-') ? '-' : '';
    return (await session.skills.library()).skills
      .map(({ name }) => `${sign}${name}`)
      .filter((name) => name.startsWith(typed));
  },
  async *run(argument, { session }) {
    if (argument === '')
      throw new HiError('usage', 'No skill name given.', {
        hint: 'Type: /skill NAME. To list the skills, type: /skills',
      });
    const drop = argument.startsWith('-');
    const { skills, absence } = await session.skills.library();
    const { name } = pick(skills, drop ? argument.slice(1) : argument, 'skill', 'usage', absence);
    if (drop) session.skills.drop(name);
    else session.skills.pin(name);
    yield {
      type: 'print',
      text: drop
        ? `Skill '${name}' is dropped from the next message.`
        : `Skill '${name}' is loaded with the next message.`,
    };
  },
};
