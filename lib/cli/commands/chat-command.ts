import { EXIT_STATUS } from '../../errors.js';
import type { ChatOptions } from '../base/command-options.js';
import { printHistoryNotices } from '../base/print-notices.js';
import type { World } from '../base/world.js';
import { chatSettings } from '../chat/chat-settings.js';
import { openChat } from '../chat/open-chat.js';
import { showStart } from '../chat/show-start.js';

/**
 * The REPL; on a terminal the set-up comes first where `hi ask` would not work for want of a configuration. Resolves to the exit status.
 * `isDefault` is true for plain `hi`.
 */
export async function chatCommand(world: World, options: ChatOptions, isDefault = false): Promise<number> {
  const settings = await chatSettings(world, options, isDefault);
  if (settings === null) return EXIT_STATUS.interrupted;
  const chat = await openChat(world, options, settings);
  const { history, ahead } = chat.wired.session;
  try {
    await showStart(world, options, chat);
    return await chat.repl.run();
  } finally {
    ahead.drop();
    printHistoryNotices(world, history);
    await chat.wired.close();
  }
}
