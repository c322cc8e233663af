// What the executable runs in a thread of its own: the scaling of pictures.
import '../../session/images/scaling-thread.js';
