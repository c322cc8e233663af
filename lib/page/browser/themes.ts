import { one } from './controls.js';

/** The button shows the theme that it switches to. */
export function switchThemes(): void {
  const button = one('#theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = (): boolean =>
    (document.documentElement.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark';
  const show = (): void => {
    button.textContent = isDark() ? 'Light' : 'Dark';
  };
  button.addEventListener('click', () => {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    show();
  });
  system.addEventListener('change', show);
  show();
}
