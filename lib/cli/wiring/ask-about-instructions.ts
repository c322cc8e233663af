import type { Instructions } from '../../memory/instructions.js';
import { type ApprovalStreams, askToAgree } from '../approval/show-and-ask.js';

/** Shows the files and asks whether the model may read them. Rejects as an interruption if the user cancels the question. */
export async function askAboutInstructions(files: readonly Instructions[], streams: ApprovalStreams): Promise<boolean> {
  const names = files.map(({ name }) => name).join(', ');
  const message = `The model would read the instructions of this project with every message: ${names}. Use them?`;
  return await askToAgree(files, message, streams);
}
