//! A mail server that takes what it is given, or refuses with the code it is told.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// A letter that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) text: String,
}

#[derive(Default)]
struct Desk {
    received: Vec<Received>,
    /// What is answered to a recipient instead of taking it.
    refusal: Option<&'static str>,
}

pub(crate) struct MailServer {
    pub(crate) port: u16,
    desk: Arc<Mutex<Desk>>,
    task: JoinHandle<()>,
}

impl MailServer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let desk = Arc::<Mutex<Desk>>::default();
        let shared = desk.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, shared.clone()));
            }
        });
        Self { port, desk, task }
    }

    pub(crate) fn refuse(&self, refusal: Option<&'static str>) {
        self.desk.lock().expect("the desk").refusal = refusal;
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.desk.lock().expect("the desk").received.clone()
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One connection. Ends when the client hangs up.
async fn serve(stream: TcpStream, desk: Arc<Mutex<Desk>>) -> Option<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let (mut from, mut to) = (String::new(), String::new());
    write.write_all(b"220 mail.test ready\r\n").await.ok()?;
    while let Some(line) = lines.next_line().await.ok()? {
        let answer = match line.get(..4).unwrap_or(&line) {
            "EHLO" | "HELO" => "250 mail.test",
            "MAIL" => {
                from = line;
                "250 sender taken"
            }
            "RCPT" => {
                to = line;
                desk.lock().expect("the desk").refusal.unwrap_or("250 recipient taken")
            }
            "DATA" => {
                write.write_all(b"354 go on\r\n").await.ok()?;
                let mut text = String::new();
                while let Some(line) = lines.next_line().await.ok()?.filter(|line| line != ".") {
                    text.push_str(&line);
                    text.push('\n');
                }
                let letter = Received { from: from.clone(), to: to.clone(), text };
                desk.lock().expect("the desk").received.push(letter);
                "250 taken"
            }
            "QUIT" => "221 bye",
            _ => "250 as you like",
        };
        write.write_all(format!("{answer}\r\n").as_bytes()).await.ok()?;
    }
    Some(())
}
