import type { ViewReport } from '../../chat/event.js';
import type { Config } from '../../config/config.js';
import { DEFAULT_WINDOW } from '../../config/setting.js';
import { providers } from '../../providers/index.js';
import { neutralise } from '../../screen/text/neutralise.js';
import type { Session } from '../../session/session.js';
import { statusText, viewText } from '../../session/session-status.js';
import { writeJson } from '../base/command-output.js';
import type { CommonOptions } from '../base/options.js';
import { printHistoryNotices, printNotices } from '../base/output.js';
import { readSettings, type Settings, type SettingsOptions } from '../base/settings.js';
import type { World } from '../base/world.js';
import { conversationCost, costLine, costText, type QuestionCost, questionCost, wholeCost } from '../wiring/price.js';
import { wire } from '../wiring/wire.js';

interface StatusOptions extends CommonOptions, SettingsOptions {
  readonly json?: boolean;
}

/**
 * Prints how long the conversation is and how full the window is. Without a configuration there is no window to tell
 * of.
 */
export async function statusCommand(world: World, options: StatusOptions): Promise<number> {
  const found = await readSettings(world, options);
  const settings = found.config === null ? await withAnyProvider(world, options) : found;
  if (settings.config === null) return 0;
  const context_window = found.config?.context_window ?? DEFAULT_WINDOW;
  const { session } = await wire(world, options, settings, { ...settings.config, context_window });
  for await (const event of session.takeIn())
    if (event.type === 'notice' && event.level === 'warning') printNotices(world, [event.text]);
  const { signal } = new AbortController();
  if (found.config !== null && session.target.window_is_known === false) await session.target.askEarly?.(signal);
  const status = await session.status(signal);
  printHistoryNotices(world, session.history);
  const model =
    found.config === null
      ? 'no model configured'
      : `${session.target.server ?? session.target.provider}/${session.target.model}`;
  const cost = await costOf(session, settings.config);
  const next = found.config === null ? null : await nextOf(session, world.now());
  if (options.json) {
    const window = found.config === null ? { context_window: null, used: null } : {};
    const known = { ...status, ...window, ...(typeof cost?.value === 'number' && { cost: cost.value }) };
    writeJson(world.stdout, next === null ? known : { ...known, view: next.view, next: next.cost });
  } else {
    world.stdout.write(
      neutralise(`${statusText(status, model, windowOf(found, session))}${cost?.line ?? ''}${next?.text ?? ''}\n`),
    );
  }
  await session.history.close();
  return 0;
}

function windowOf({ config }: Settings, { target }: Session): Parameters<typeof statusText>[2] {
  if (config === null) return 'none';
  return target.window_is_known === false ? 'assumed' : 'known';
}

/** What the next question consists of and costs. */
async function nextOf(
  session: Session,
  now: Date,
): Promise<{ readonly view: ViewReport; readonly cost: QuestionCost; readonly text: string }> {
  const view = await session.nextView(new AbortController().signal);
  const cost = questionCost(session.target, view.tokens, now);
  return { view: view.report, cost, text: `\n${viewText(view)}\nnext         ${costLine(cost)}` };
}

/** The longest conversation that is read to compute its cost, in messages. */
const MOST_MESSAGES = 20_000;

/**
 * The cost of the conversation in dollars, null if a price is unknown, and as text. Null if nothing was used or reading
 * it would take long.
 */
async function costOf(
  { history }: Session,
  server: Config,
): Promise<{ readonly value: number | null; readonly line: string } | null> {
  const { messages } = history.totals;
  if (messages === 0 || messages > MOST_MESSAGES) return null;
  const cost = await conversationCost(history, server);
  if (cost.priced === 0 && cost.unknown.length === 0) return null;
  return { value: wholeCost(cost), line: `\ncost         ${costText(cost)}` };
}

async function withAnyProvider(world: World, options: StatusOptions): Promise<Settings> {
  return await readSettings(world, { ...options, provider: providers[0]?.name ?? '', model: 'none' });
}
