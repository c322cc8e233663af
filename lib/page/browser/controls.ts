/** The element for this selector. */
export function one(selector: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`The page has no ${selector}.`);
  return found;
}

/** Scrolls to an element until it stays in place: elements get their real height only when they come into view. */
export async function bringIntoView(element: Element, block: 'start' | 'center'): Promise<void> {
  for (let frame = 0; frame < 6; frame += 1) {
    element.scrollIntoView({ block });
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
}
