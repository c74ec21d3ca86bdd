<?php
function get($name) {
    return file_get_contents($name);     // makes: lstat open fstat lseek read close
}

function end_of($name) {
    $f = fopen($name, 'r');              // makes: lstat open fstat lseek
    $x = 1;
    return $x;
}

class Count {
    function __construct(public $file) {}
    function __destruct() {
        rename('m', $this->file);        // makes: rename
    }
}

$lock = fopen('lock', 'c');              // makes: lstat open fstat lseek
flock($lock, LOCK_EX);                   // makes: flock
file_put_contents(                       // makes: lstat open fstat lseek write close
    'n', '1');
get('n');
end_of('n');                             // makes: close
$count = new Count('n');
rename('n', 'm');                        // makes: rename
$count = null;
eval("\n\n\ntouch('n');");               // makes: lstat stat utimes access
function names() {
    yield touch('m');                    // makes: stat lstat utimes access open close
    yield unlink('m');                   // makes: unlink
}
foreach (names() as $x) {
    chmod('n', 0600);                    // makes: chmod lstat
}
$fiber = new Fiber(function () {
    mkdir('d');                          // makes: mkdir
    Fiber::suspend();
    rmdir('d');                          // makes: rmdir
});
$fiber->start();
try {
    rename('d', 'e') and throw new Exception('e'); // makes: rename
} catch (Exception $e) {
    rename('e', 'd');                    // makes: rename
}
$fiber->resume();
system('rm n');                          // makes: pipe fork exec exit wait stat lstat access unlink fstat read close
unlink('lock');                          // makes: unlink
