import { toJson } from '../../chat/json.js';
import { HiError } from '../../errors.js';
import { neutralise, neutraliseJson } from '../../screen/text/neutralise.js';
import type { UserInput } from '../../session/common/deps.js';
import type { Reply } from '../../session/several-answers.js';
import { type ChatOptions, formatOf } from '../base/options.js';
import type { World } from '../base/world.js';
import { costOf, replyLine, wholeCost } from '../wiring/price.js';
import { openSession } from '../wiring/wire.js';

/** Asks several models at once. The first that was named and answered is kept in the conversation. */
export async function askModels(
  world: World,
  { text, texts, attachments }: UserInput,
  models: readonly string[],
  options: ChatOptions,
  stop: AbortController,
): Promise<number> {
  const unfit = [attachments.length > 0 && 'an image', options.schema && '--schema', options.extract && '-x'].find(
    Boolean,
  );
  if (unfit) throw new HiError('usage', `Several models cannot be asked with ${unfit}.`, { hint: 'Give -m once.' });
  const { model: _last, ...rest } = options;
  const wired = await openSession(world, rest);
  const { session, close } = wired;
  const format = formatOf(options);
  const question = [...texts, text].join('\n\n');
  const replies: Reply[] = [];
  try {
    for await (const reply of session.askSeveral([...new Set(models)], question, stop.signal)) {
      replies.push(reply);
      if (format === 'text') showReply(world, options, reply);
      else if (format === 'stream-json') printLine(world, { type: 'reply', ...toldReply(reply) });
    }
    const answers = replies.filter(({ report }) => report !== null);
    const kept = models.map((name) => answers.find((one) => one.name === name)).find((one) => one !== undefined);
    if (kept === undefined) throw replies[0]?.failure;
    await session.keepReplies(
      question,
      kept,
      answers.filter((one) => one !== kept),
    );
    const told = replies.map((reply) => ({ ...toldReply(reply), kept: reply === kept }));
    if (format === 'json') printLine(world, told);
    else if (format === 'stream-json') printLine(world, { type: 'result', replies: told });
    else if (!options.quiet) world.stderr.write(`Kept: ${kept.name}.\n`);
    return 0;
  } finally {
    await close();
  }
}

const printLine = ({ stdout }: World, value: object): void => void stdout.write(`${neutraliseJson(toJson(value))}\n`);

/** A line above the answer says whose it is. */
function showReply(world: World, { quiet }: ChatOptions, reply: Reply): void {
  const line = neutralise(replyLine(reply, world.now()));
  if (reply.report === null) world.stderr.write(`${line}\n`);
  else world.stdout.write(`${quiet ? '' : `── ${line}\n`}${neutralise(reply.report.text).trimEnd()}\n`);
}

/** An answer for JSON. */
function toldReply({ name, target, report, failure }: Reply) {
  if (target === null || report === null) {
    const { code, message, hint } = failure ?? {};
    return { name, error: { code, message, hint } };
  }
  const { provider, model, api_base } = target;
  const cost = wholeCost(costOf([{ provider, model, api_base, at: new Date(), usage: report.usage }]));
  return { name, provider, model, text: report.text, usage: report.usage, cost };
}
