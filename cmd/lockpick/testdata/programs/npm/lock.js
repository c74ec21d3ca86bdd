// lock.js RETRIES: takes the lock on data by proper-lockfile.
const fs = require('fs'), lockfile = require('proper-lockfile');
lockfile.lock('data', { retries: Number(process.argv[2]), realpath: false }).then(release => {
  fs.mkdirSync('cs');
  fs.rmdirSync('cs');
  return release();
}).catch(e => process.exit(e.code === 'ELOCKED' ? 75 : 1));
