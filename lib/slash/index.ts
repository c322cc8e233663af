import { btw } from './btw.js';
import type { Command } from './command.js';
import { compact } from './compact.js';
import { copy } from './copy.js';
import { edit } from './edit.js';
import { exportTo } from './export.js';
import { find } from './find.js';
import { help } from './help.js';
import { history } from './history.js';
import { model } from './model.js';
import { quit } from './quit.js';
import { reset } from './reset.js';
import { retry } from './retry.js';
import { skill } from './skill.js';
import { skills } from './skills.js';
import { status } from './status.js';
import { toolsCommand } from './tools.js';
import { undo } from './undo.js';

/** Every slash command, in the order of the help. */
export const commands: readonly Command[] = [
  help,
  quit,
  reset,
  compact,
  history,
  find,
  status,
  model,
  skills,
  skill,
  toolsCommand,
  undo,
  retry,
  edit,
  copy,
  exportTo,
  btw,
];
