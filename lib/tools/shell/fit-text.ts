import { OutputKeeper } from './limit-output.js';
import { outputName } from './output-name.js';

/** Limits a complete text like a command's output: head and tail for the model, the whole text in a file, without control sequences. */
export function fitText(
  text: string,
  limit: number,
  { spillFolder, keepsOutput }: { readonly spillFolder: string; keepsOutput?(): boolean },
  mask: (text: string) => string,
): string {
  const folder = keepsOutput?.() === false ? null : spillFolder;
  const keeper = new OutputKeeper(limit, folder, `${outputName()}.stdout`);
  keeper.take(Buffer.from(mask(text)));
  return keeper.finish(limit).text;
}
