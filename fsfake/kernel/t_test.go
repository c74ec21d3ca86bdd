package kernel
import ("testing";"time";"runtime";"lockpick/fsfake")
func TestStartTimes(t *testing.T) {
	runtime.LockOSThread()
	Pin(0)
	m, _ := New(Options{})
	defer m.Close()
	for range 5 {
		t0 := time.Now()
		m.AddProc(fsfake.ProcSpec{Pid: 103, UID: 7})
		t1 := time.Now()
		m.Do(103, fsfake.Op{Call: fsfake.CallFstat, FD: 3})
		t2 := time.Now()
		m.KillProc(103)
		t.Log(t1.Sub(t0), t2.Sub(t1), time.Since(t2))
	}
}
