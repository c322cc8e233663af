import { bringIntoView, one } from './controls.js';

/** Fills the list of days, grouped by month, and goes to the chosen one. */
export function listDays(clearSearch: () => void): void {
  const list = one('#day') as HTMLSelectElement;
  const sections = [...document.querySelectorAll<HTMLElement>('section')];
  let group: HTMLOptGroupElement | null = null;
  sections.forEach((section, place) => {
    const month = section.dataset.month ?? '';
    if (group === null || group.label !== month) {
      group = document.createElement('optgroup');
      group.label = month;
      list.append(group);
    }
    group.append(new Option(section.querySelector('h2')?.textContent ?? '', String(place)));
  });
  list.addEventListener('change', () => {
    const section = sections[Number(list.value)];
    list.selectedIndex = 0;
    if (section === undefined) return;
    clearSearch();
    section.querySelector('h2')?.focus({ preventScroll: true });
    void bringIntoView(section, 'start');
  });
}
