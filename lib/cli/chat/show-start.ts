import type { WrapMode } from '../../chat/event.js';
import type { AnswerStyle } from '../../screen/answer-writer.js';
import { LONGEST_ROW } from '../../screen/text/styled-text.js';
import type { ChatOptions } from '../base/command-options.js';
import { newSettingsWarnings, newWarnings } from '../base/new-warnings.js';
import type { Settings } from '../base/settings.js';
import { outputStreams } from '../base/streams.js';
import type { World } from '../base/world.js';
import { screenSettingsOf } from '../terminal/screen-settings-of.js';
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

/** Half of the screen, less the header and the prompt. */
function roomOf(world: World, { config }: Settings): { readonly rows: number; readonly style: AnswerStyle } {
  const { columns } = outputStreams(world);
  const wrap = (): WrapMode => (config === null ? 'word' : screenSettingsOf(config).wrap);
  const rows = Math.max(2, Math.floor((world.stdout.rows ?? 24) / 2) - 2);
  return { rows, style: { colour: false, links: false, columns: () => Math.min(LONGEST_ROW, columns()), wrap } };
}

async function startLines(world: World, options: ChatOptions, { wired, usage }: Chat): Promise<readonly string[]> {
  const { settings, session } = wired;
  const detected = detectedProviderNotice(world, options, settings);
  return [
    ...(detected === null ? [] : await newWarnings([detected], settings.paths.warned)),
    greeting(session, await usage.read()),
    await lastExchange(session.history.view(null).messages, roomOf(world, settings)),
  ].filter((line) => line !== '');
}
