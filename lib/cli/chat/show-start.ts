import type { ChatOptions } from '../base/command-options.js';
import { newSettingsWarnings, newWarnings } from '../base/new-warnings.js';
import type { World } from '../base/world.js';
import { chatTerminal } from './chat-terminal.js';
import { detectedProviderNotice } from './detected-provider.js';
import { greeting, lastExchange } from './greeting.js';
import type { Chat } from './open-chat.js';

/** Shows what stands before the first prompt: warnings, and on a terminal the greeting and the last exchange. */
export async function showStart(world: World, options: ChatOptions, chat: Chat): Promise<void> {
  const { screen, wired } = chat;
  const { settings, session } = wired;
  const warnings = await newSettingsWarnings(settings);
  for (const notice of [...warnings, ...session.history.takeNotices()]) screen.notice(notice, 'warning');
  if (chatTerminal(world) !== 'none' && !options.quiet) {
    for (const line of await startLines(world, options, chat)) screen.notice(line, 'info');
  }
  await screen.flush();
}

async function startLines(world: World, options: ChatOptions, { wired, usage }: Chat): Promise<readonly string[]> {
  const { settings, session } = wired;
  const detected = detectedProviderNotice(world, options, settings);
  return [
    ...(detected === null ? [] : await newWarnings([detected], settings.paths.warned)),
    greeting(session, await usage.read()),
    lastExchange(session.history.view(null).messages),
  ].filter((line) => line !== '');
}
