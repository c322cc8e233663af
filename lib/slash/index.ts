import { slashAll } from './all.js';
import { slashAsk } from './ask.js';
import { slashBtw } from './btw.js';
import type { SlashCommand } from './common/command.js';
import { slashCompact } from './compact.js';
import { slashCompactions } from './compactions.js';
import { slashContext } from './context.js';
import { slashCopy } from './copy.js';
import { slashCost } from './cost.js';
import { slashEdit } from './edit.js';
import { slashExport } from './export.js';
import { slashFind } from './find.js';
import { slashForget } from './forget.js';
import { slashHelp } from './help.js';
import { slashHistory } from './history.js';
import { slashMcp } from './mcp.js';
import { slashMemory } from './memory.js';
import { slashModel } from './model.js';
import { slashOff } from './off.js';
import { slashOn } from './on.js';
import { slashPin } from './pin.js';
import { slashPins } from './pins.js';
import { slashQueue } from './queue.js';
import { slashQuit } from './quit.js';
import { slashRecall } from './recall.js';
import { slashRedo } from './redo.js';
import { slashRemember } from './remember.js';
import { slashReset } from './reset.js';
import { slashRetry } from './retry.js';
import { slashRewind } from './rewind.js';
import { slashSkill } from './skill.js';
import { slashSkills } from './skills.js';
import { slashStatus } from './status.js';
import { slashThink } from './think.js';
import { slashTools } from './tools.js';
import { slashUncompact } from './uncompact.js';
import { slashUndo } from './undo.js';
import { slashUnpin } from './unpin.js';
import { slashWeb } from './web.js';
import { slashWhy } from './why.js';
import { slashWrap } from './wrap.js';

/**
 * Every slash command, in the order of the help. Exports start with `slash`, because names like `status` and `tools`
 * are used elsewhere too.
 */
export const slashCommands: readonly SlashCommand[] = [
  slashHelp,
  slashQuit,
  slashReset,
  slashCompact,
  slashCompactions,
  slashUncompact,
  slashWhy,
  slashHistory,
  slashFind,
  slashStatus,
  slashContext,
  slashCost,
  slashModel,
  slashAsk,
  slashQueue,
  slashSkills,
  slashSkill,
  slashTools,
  slashMcp,
  slashThink,
  slashWeb,
  slashRecall,
  slashRemember,
  slashMemory,
  slashForget,
  slashWrap,
  slashPin,
  slashPins,
  slashUnpin,
  slashOff,
  slashOn,
  slashUndo,
  slashRedo,
  slashRewind,
  slashRetry,
  slashEdit,
  slashCopy,
  slashExport,
  slashBtw,
  slashAll,
];
