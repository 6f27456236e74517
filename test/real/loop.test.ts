import { describeLoop } from '../fixture/loop/whole-loop.ts';
import { theRelease } from './releases.ts';
import { startRealServer } from './real-server.ts';

const { release, venv } = theRelease();

describeLoop('loop', () => startRealServer(release, venv), { without: release.without ?? {} });
