// session.js [fixed]: a session lock that is made with open("wx") and then given its owner's pid.
// A lock without a pid counts as stale, as github.com/openclaw/openclaw/pull/10283 reports it; fixed,
// it is somebody's who has not written yet.
const fs = require('fs');
const fixed = process.argv[2];
function acquire() {
  for (;;) {
    try {
      const f = fs.openSync('session.lock', 'wx');
      fs.writeSync(f, String(process.pid));
      fs.closeSync(f);
      return;
    } catch (e) { if (e.code !== 'EEXIST') throw e; }
    let text;
    try { text = fs.readFileSync('session.lock', 'utf8'); } catch (e) { continue; }
    if (text !== '' || fixed) process.exit(75);
    fs.unlinkSync('session.lock');
  }
}
acquire();
fs.mkdirSync('cs');
fs.rmdirSync('cs');
fs.unlinkSync('session.lock');
