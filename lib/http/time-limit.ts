/** How long to wait for a server to close its stream after the last event, in milliseconds. A closed stream leaves its connection for the next request. */
export const GRACE = 100;

/** What a promise resolves to within `milliseconds`; undefined when it takes longer or rejects. */
export async function atMost<Value>(
  milliseconds: number,
  promise: Promise<Value> | undefined,
): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  const first = await Promise.race([promise, late]).catch(() => undefined);
  clearTimeout(timer);
  return first;
}
