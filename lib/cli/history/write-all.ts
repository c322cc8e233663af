import type { OutputStream } from '../../screen/output-stream.js';

/** Writes texts one after the other and waits for each, so that nothing piles up in memory. Stops where the reader leaves. */
export async function writeAll(to: OutputStream, texts: AsyncIterable<string>): Promise<void> {
  // Only a write's own callback reports that the reader left: Node's stdout forgets every error at once.
  let open = true;
  for await (const text of texts) {
    await new Promise<void>((resolve) => {
      to.write(text, (error) => {
        open &&= !error;
        resolve();
      });
    });
    if (!open) return;
  }
}
