import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Indexes a history and is killed at the given change of a file; says how many changes there were when it was not. */
const [folder = '', kill = ''] = process.argv.slice(2);
let changes = 0;

/** Makes a function count, and the process die in the middle of the one that is meant. */
function counted<Args extends readonly unknown[], Result>(
  change: (...args: Args) => Result,
  half: (...args: Args) => void,
): (...args: Args) => Result {
  return (...args) => {
    changes += 1;
    if (changes === Number(kill)) {
      half(...args);
      process.kill(process.pid, 'SIGKILL');
    }
    return change(...args);
  };
}

const { writeSync } = fs;
const halfWritten = (file: number, bytes: NodeJS.ArrayBufferView, offset = 0): void => {
  writeSync(file, bytes, Number(offset), Math.floor((bytes.byteLength - Number(offset)) / 2));
};
Object.assign(fs, {
  writeSync: counted(
    writeSync as (file: number, bytes: NodeJS.ArrayBufferView, offset?: number) => number,
    halfWritten,
  ),
  renameSync: counted(fs.renameSync, () => {}),
  rmSync: counted(fs.rmSync, () => {}),
  unlinkSync: counted(fs.unlinkSync, () => {}),
});
syncBuiltinESMExports();

const { HistoryStore } = await import('../../../lib/history/store.js');
const { Recall } = await import('../../../lib/recall/recall.js');
const store = await HistoryStore.open({ folder, now: () => new Date() });
changes = 0;
const recall = new Recall({ folder: `${folder}/recall`, history: store, writes: true });
await recall.catchUp(60_000);
process.stdout.write(String(changes));
