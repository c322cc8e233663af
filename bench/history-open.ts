/**
 * Opens the history of a folder for the next request, and prints the time in milliseconds and the peak memory in MiB.
 */
const start = performance.now();
const { HistoryStore } = await import('../lib/history/store.js');
const loaded = performance.now();
const store = await HistoryStore.open({ folder: process.argv[2] ?? '', now: () => new Date() });
const messages = store.view(null).messages.length;
const end = performance.now();
const memory = process.resourceUsage().maxRSS / 1024;
process.stdout.write(JSON.stringify({ load: loaded - start, open: end - loaded, memory, messages }));
await store.close();
