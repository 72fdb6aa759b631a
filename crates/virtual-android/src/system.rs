//! The phone as the system that its shells run on.

use crate::phone::{State, VirtualPhone};
use crate::programs::work_of;
use futures::future::{BoxFuture, FutureExt};
use std::ops::{Deref, DerefMut};
use std::time::Duration;
use thumbwire_virtual_shell::processes::ProcessRow;
use thumbwire_virtual_shell::system::{Kernel, ProgramStart, System, Userland};

/// A step on the phone's state, seen as one on what shells change.
struct KernelStep<S>(S);

impl<S: Deref<Target = State>> Deref for KernelStep<S> {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        &self.0.kernel
    }
}

impl<S: DerefMut<Target = State>> DerefMut for KernelStep<S> {
    fn deref_mut(&mut self) -> &mut Kernel {
        &mut self.0.kernel
    }
}

impl System for VirtualPhone {
    fn kernel(&self) -> Box<dyn DerefMut<Target = Kernel> + '_> {
        Box::new(KernelStep(self.step()))
    }

    fn userland(&self) -> Userland {
        self.release().userland
    }

    fn processes(&self) -> Vec<ProcessRow> {
        self.with(|phone| phone.process_rows())
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'_, ()> {
        VirtualPhone::sleep(self, time).boxed()
    }

    fn follows_real_time(&self) -> bool {
        VirtualPhone::follows_real_time(self)
    }

    fn waits(&self) -> bool {
        VirtualPhone::waits(self)
    }

    fn wait_if_paused(&self) -> BoxFuture<'_, ()> {
        VirtualPhone::wait_if_paused(self).boxed()
    }

    fn start_program<'a>(&'a self, name: &'a str, command: &'a str) -> BoxFuture<'a, ProgramStart> {
        async move {
            self.inject_before(command).await;
            let corrupter = self.corrupter_for(command);
            self.run_work(work_of(name, self.release())).await;
            ProgramStart { corrupter, stub: self.program_stub(name) }
        }
        .boxed()
    }

    fn end_program(&self, command: &str) {
        self.inject_after(command);
    }
}
