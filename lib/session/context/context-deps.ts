import type { ThinkingLevel, WebMode } from '../../chat/model.js';
import type { TextCache, TextModel, ToolSpec } from '../../chat/request.js';
import type { CompactionSettings } from '../../compaction/strategy.js';
import type { HistoryStore } from '../../history/store.js';
import type { SentOverhead } from '../../view/measure.js';
import type { Target } from '../common/deps.js';
import type { CompactionAhead } from './compaction-ahead.js';
import type { OverheadSource } from './request-overhead.js';

/** What a request consists of in addition to the log. */
export interface ContextDeps extends Omit<OverheadSource, 'tools'> {
  /** The tools offered to the model. A call may add some. */
  tools(): readonly ToolSpec[];
  readonly history: HistoryStore;
  readonly target: Pick<Target, 'model' | 'weigh' | 'context_window' | 'model_window' | 'memory' | 'options' | 'rest'>;
  readonly thinking: ThinkingLevel | null;
  readonly web: WebMode;
  readonly compaction: Omit<CompactionSettings, 'context_window'>;
  /** The models to try for summaries, in order. */
  writers(): readonly TextModel[];
  readonly cache: TextCache;
  /** The compaction written before it is due. */
  readonly ahead: CompactionAhead;
  /** The warnings already shown, so that each is shown once. */
  readonly shownWarnings: Set<string>;
  /** What the last request of this process contained besides the messages. */
  readonly overhead: { last: SentOverhead | null };
}
