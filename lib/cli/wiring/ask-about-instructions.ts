import { firstCharacters } from '../../chat/text/cut-text.js';
import type { Instructions } from '../../memory/trusted-instructions.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import { askQuestion } from '../terminal/ask-question.js';
import type { ApprovalStreams } from './approve.js';

/** How much of each file is shown above the question. */
const SHOWN_LINES = 8;
const SHOWN_COLUMNS = 160;

/** Shows the beginning of each file and asks whether the model may read them. Rejects as an interruption if the user cancels the question. */
export async function askAboutInstructions(files: readonly Instructions[], streams: ApprovalStreams): Promise<boolean> {
  const { confirm } = await import('../terminal/inquirer.js');
  const excerpts = files.map((file) => `${excerptOf(file)}\n`).join('');
  await streams.ready?.();
  streams.output.write(excerpts);
  const names = files.map(({ name }) => name).join(', ');
  const message = visibleLine(
    `The model would read the instructions of this project with every message: ${names}. Use them?`,
  );
  return await askQuestion((context) => confirm({ message, default: false }, context), streams);
}

function excerptOf({ name, text }: Instructions): string {
  const lines = text.split('\n');
  const shown = lines.slice(0, SHOWN_LINES).map((line) => `  ${firstCharacters(visibleLine(line), SHOWN_COLUMNS)}`);
  const left = lines.length - shown.length;
  return [`${visibleLine(name)}:`, ...shown, ...(left > 0 ? [`  … ${left} more lines`] : [])].join('\n');
}
